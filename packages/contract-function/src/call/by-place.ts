import type { AbiType } from '@chainstead/decoding';

/**
 * Returns params with the value of `""` under the place of the only input without a name: getters of mappings have such an input, and clients name
 * values as the ABI does. `""` names none of several such inputs.
 */
export function byPlace(
  inputs: readonly Pick<AbiType, 'name'>[],
  params: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (!Object.hasOwn(params, '')) return params;
  const [place, ...others] = inputs.flatMap(({ name }, at) => (name === '' ? [String(at)] : []));
  if (place === undefined || others.length > 0 || Object.hasOwn(params, place)) return params;
  const { '': value, ...rest } = params;
  return { ...rest, [place]: value };
}

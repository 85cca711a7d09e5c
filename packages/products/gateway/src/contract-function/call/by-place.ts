import type { AbiType } from '@chainstead/events/decoding';

/** Getters of mappings have one input without a name: `""` moves to its position. */
export function byPlace(
  inputs: readonly Pick<AbiType, 'name'>[],
  params: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (!Object.hasOwn(params, '')) return params;
  const [position, ...others] = inputs.flatMap(({ name }, index) => (name === '' ? [String(index)] : []));
  if (position === undefined || others.length > 0 || Object.hasOwn(params, position)) return params;
  const { '': value, ...rest } = params;
  return { ...rest, [position]: value };
}

import type { Hex } from '@chainstead/core';
import type { AbiFunction } from '@chainstead/events/decoding';
import { concatHex, encodeAbiParameters } from 'viem/utils';
import { byPlace } from './by-place.ts';
import { type CallParams, keyOf } from './find-function.ts';
import { ArgumentReader } from './read-argument.ts';

/** @throws InvalidParameterError with up to ten missing or unfitting values */
export function encodeCall({ selector, inputs, layout }: AbiFunction, given: CallParams): Hex {
  const params = byPlace(inputs, given);
  const reader = new ArgumentReader();
  const values = inputs.map((input, index) => {
    const key = keyOf(input, index);
    return reader.read(input, Object.hasOwn(params, key) ? params[key] : undefined, `params.${key}`);
  });
  reader.end();
  return concatHex([selector, encodeAbiParameters(layout, values)]);
}

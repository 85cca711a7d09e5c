import type { BlockRange } from '@chainstead/core';
import { InvalidParameterError } from '@chainstead/http';

const DIGITS = /^\d{1,15}$/;

/** What of a history is asked for, within what there is. Empty bounds mean all of it. @throws InvalidParameterError */
export function readRange(from: string | undefined, to: string | undefined, whole: BlockRange): BlockRange {
  const wanted = { from: read('from', from) ?? whole.from, to: read('to', to) ?? whole.to };
  if (wanted.from > wanted.to)
    throw new InvalidParameterError({ parameter: 'to', given: to, allowed: `${wanted.from} or more` });
  return wanted;
}

function read(parameter: string, given: string | undefined): number | null {
  if (given === undefined || given === '') return null;
  if (!DIGITS.test(given)) throw new InvalidParameterError({ parameter, given, allowed: 'a whole number' });
  return Number(given);
}

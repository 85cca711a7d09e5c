import { type Hash, parseHash } from '@chainstead/core';
import type { RowPlace } from '@chainstead/datasets';
import { InvalidParameterError } from '@chainstead/http';
import { cut } from '../../../layout/html.ts';
import { readSubject } from '../subjects/read-subject.ts';

const BLOCK = /^\d{1,15}$/;
const PLACE = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/;

/** @throws InvalidParameterError */
export function blockIn(text: string): number {
  if (!BLOCK.test(text))
    throw new InvalidParameterError({ parameter: 'block', given: cut(text), allowed: 'a whole number' });
  return Number(text);
}

/** @throws InvalidParameterError */
export function hashIn(text: string): Hash {
  if (readSubject(text)?.kind !== 'hash')
    throw new InvalidParameterError({ parameter: 'hash', given: cut(text), allowed: '0x and 64 hexadecimal digits' });
  return parseHash(text.trim());
}

/** Null: from the first row on. @throws InvalidParameterError */
export function placeIn(text: string | undefined): RowPlace | null {
  if (text === undefined) return null;
  const [, transactionIndex, logIndex, item] = PLACE.exec(text) ?? [];
  if (item === undefined)
    throw new InvalidParameterError({
      parameter: 'after',
      given: cut(text),
      allowed: 'the cursor of a link on the page',
    });
  return { transactionIndex: Number(transactionIndex), logIndex: Number(logIndex), item: Number(item) };
}

import { type Hash, parseHash } from '@chainstead/core';
import type { RowPlace } from '@chainstead/datasets';
import { InvalidParameterError } from '@chainstead/http';
import { cut } from '../../../layout/html.ts';
import { readSubject } from '../subjects/read-subject.ts';

const BLOCK = /^\d{1,15}$/;
const PLACE = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/;

export function blockIn(text: string): number {
  if (!BLOCK.test(text))
    throw new InvalidParameterError({ parameter: 'block', given: cut(text), allowed: 'a whole number' });
  return Number(text);
}

export function hashIn(text: string): Hash {
  if (readSubject(text)?.kind !== 'hash') throw refusedHash(text);
  return parseHash(text.trim());
}
export function refusedHash(text: string): InvalidParameterError {
  const allowed = '0x and 64 hexadecimal digits';
  return new InvalidParameterError({ parameter: 'hash', given: cut(text), allowed });
}

export function placeIn(text: string | undefined): RowPlace | null {
  if (text === undefined) return null;
  const [, transactionIndex, logIndex, item] = PLACE.exec(text) ?? [];
  const allowed = 'the cursor of a link on the page';
  if (item === undefined) throw new InvalidParameterError({ parameter: 'after', given: cut(text), allowed });
  return { transactionIndex: Number(transactionIndex), logIndex: Number(logIndex), item: Number(item) };
}

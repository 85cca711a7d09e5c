import { type AbiBook, bookOf } from '../abi-book.ts';
import type { AbiEvent, AbiFunction } from '../abi-entry.ts';
import { parseEventSignature, parseSignature } from '../parse-signature.ts';
import { EXCHANGE_SIGNATURES } from './exchanges.ts';
import { FINANCE_SIGNATURES } from './finance.ts';
import { TOKEN_SIGNATURES } from './tokens.ts';

export const STANDARDS: AbiBook = bookOf(
  'standard',
  readSignatures([...TOKEN_SIGNATURES, ...EXCHANGE_SIGNATURES, ...FINANCE_SIGNATURES]),
);

function readSignatures(texts: readonly string[]): { functions: AbiFunction[]; events: AbiEvent[] } {
  const functions: AbiFunction[] = [];
  const events: AbiEvent[] = [];
  for (const text of texts) {
    const [entry, event] = [parseSignature(text), parseEventSignature(text)];
    if (event !== null) events.push(event);
    else if (entry !== null) functions.push(entry);
    else throw new RangeError(`"${text}" is no signature`);
  }
  return { functions, events };
}

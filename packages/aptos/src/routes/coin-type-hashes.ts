import { createHash } from 'node:crypto';
import { formatMoveType } from '../move-type/move-type.ts';
import { MoveTypeError } from '../move-type/move-type-error.ts';
import { parseMoveType } from '../move-type/parse-move-type.ts';

/**
 * As hexadecimal digits, sorted and unique. A type has two if a fullnode prints it differently (other spaces, another
 * spelling of an address): that of the given text, and that of the printed one.
 */
export function hashesOfCoinTypes(coinTypes: readonly string[]): readonly string[] {
  const texts = new Set(coinTypes.flatMap((text) => [text, printed(text)]));
  return [...texts].map((text) => createHash('sha256').update(text).digest('hex')).sort();
}

function printed(text: string): string {
  try {
    return formatMoveType(parseMoveType(text));
  } catch (error) {
    if (error instanceof MoveTypeError) return text;
    throw error;
  }
}

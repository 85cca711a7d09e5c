import { createHash } from 'node:crypto';
import { formatMoveType } from '../move-type/move-type.ts';
import { MoveTypeError } from '../move-type/move-type-error.ts';
import { parseMoveType } from '../move-type/parse-move-type.ts';

/**
 * Hashes by which coin types are found, as hexadecimal digits, sorted and each once: of the text as it is given, and of the type as
 * a fullnode prints it where that differs (other spaces, another spelling of an address).
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

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AptosRestTransaction } from 'chainstead/src/demo/aptos/aptos-ledger.ts';

/** The transactions of a recorded file in REST form. */
export function readAptosTransactions(folder: string, file: string): readonly AptosRestTransaction[] {
  const content: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  return (Array.isArray(content) ? content : [content]) as readonly AptosRestTransaction[];
}

/** The recorded Aptos transactions in the form for derivation. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTransaction } from '../fullnode/read-page.ts';
import type { AptosNetwork, AptosTransaction } from '../transaction.ts';
import { restOfProto } from './rest-of-proto.ts';

/** Returns all transactions of a network, by version. For mainnet and testnet they are stored in REST form. */
export function recordedTransactions(folder: string, network: AptosNetwork): readonly AptosTransaction[] {
  return readTransactions(join(folder, `rest-derived/${network}_transactions.json`));
}

/** Returns the transactions of a file with one or a list of them, in REST form. */
export function readTransactions(file: string): readonly AptosTransaction[] {
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return (Array.isArray(content) ? content : [content]).map(parseTransaction);
}

/** Returns the transactions of a folder of proto-json files, converted to REST form. */
export function readProtoTransactions(folder: string): readonly AptosTransaction[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => parseTransaction(restOfProto(JSON.parse(readFileSync(join(folder, name), 'utf8')))));
}

/** The given Aptos transactions as derivation takes them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTransaction } from '../fullnode/parse-transaction.ts';
import type { AptosNetwork, AptosTransaction } from '../transaction.ts';
import { restOfProto } from './rest-of-proto.ts';

/** All transactions of a network, by version. Of mainnet and testnet they are in REST form already. */
export function recordedTransactions(folder: string, network: AptosNetwork): readonly AptosTransaction[] {
  return readTransactions(join(folder, `rest-derived/${network}_transactions.json`));
}

/** The transactions of a file that holds one or a list of them, in REST form. */
export function readTransactions(file: string): readonly AptosTransaction[] {
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return (Array.isArray(content) ? content : [content]).map(parseTransaction);
}

/** The transactions of a folder of proto-json files, turned into REST form. */
export function readProtoTransactions(folder: string): readonly AptosTransaction[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => parseTransaction(restOfProto(JSON.parse(readFileSync(join(folder, name), 'utf8')))));
}

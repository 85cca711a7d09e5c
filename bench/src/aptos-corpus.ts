import { join } from 'node:path';
import { readAptosTransactions, recordedFolder, type ServedLedger } from '@chainstead/testkit';
import { BenchmarkError } from './benchmark-error.ts';

/** Recorded transactions that are all in the form in which a fullnode gives them. */
const FILES = ['mainnet_transactions.json', 'testnet_transactions.json'];

/** The recorded transactions over and over as one ledger, each time under the next version. @throws BenchmarkError */
export function repeatedCorpus(versions: number): ServedLedger {
  const folder = recordedFolder('aptos');
  if (folder === null) throw new BenchmarkError('The recorded transactions of Aptos are not beside the repository');
  const corpus = FILES.flatMap((file) => readAptosTransactions(folder, join('rest-derived', file))).map(
    (transaction) => {
      const { version, ...rest } = transaction;
      // Behind `{"version":"N",`.
      return { version, rest: Buffer.from(JSON.stringify(rest).slice(1)) };
    },
  );
  return {
    chainId: 1,
    head: versions - 1,
    transaction(version) {
      const repeated = corpus[version % corpus.length];
      if (repeated === undefined) throw new BenchmarkError('The corpus is empty');
      return Buffer.concat([Buffer.from(`{"version":"${version}",`, 'latin1'), repeated.rest]);
    },
    // Every block as long as the corpus: what it is does not matter, that it is asked for does.
    blockOf(version) {
      const height = Math.floor(version / corpus.length);
      return { height, first: height * corpus.length, last: (height + 1) * corpus.length - 1 };
    },
  };
}

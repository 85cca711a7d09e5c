/** A fullnode over the repeated corpus in a process of its own: prints its URL and serves until it is stopped. */
import { startAptosFullnode } from '@chainstead/testkit';
import { repeatedCorpus } from './aptos-corpus.ts';

const fullnode = await startAptosFullnode(repeatedCorpus(Number(process.argv[2])));
console.log(fullnode.url);
process.once('SIGTERM', () => void fullnode.close());

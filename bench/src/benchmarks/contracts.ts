import type { BenchNodeOptions } from '@chainstead/testkit';
import type { Benchmark, BenchmarkContext } from '../benchmark.ts';
import { type ContractCase, type ContractKind, compareContract } from '../compare-contract.ts';
import { installPonder } from '../ponder-project.ts';

const LOGS_PER_BLOCK = 100;
/** For each contract that emits the same event and is no child. */
const CHILDREN_PER_STRANGER = 5;
/** With a factory, the chain is longer: not all of its events are those of children. */
const EVENTS_OF_CHILDREN = 0.83;
const FASTER_AT_LEAST = 5;
/** Own contracts against Ponder: the same contract on the same node, and equal tables in the end. */
export const contracts: Benchmark = {
  name: 'contracts',
  title: 'Events of a contract, and of the children of a factory, against Ponder',
  async run(context) {
    const version = await installPonder(context.say);
    const reports = [];
    for (const kind of ['plain', 'factory'] as const)
      reports.push(await compareContract(context, caseOf(kind, context)));
    return {
      comparisons: reports.flatMap(({ comparisons }) => comparisons),
      measures: reports.flatMap(({ measures }) => measures),
      notes: [
        `Ponder ${version}, without its start-up. Chainstead runs; its time includes the command contracts add.`,
        ...reports.flatMap(({ notes }) => notes),
      ],
    };
  },
};

function caseOf(kind: ContractKind, { sizes }: BenchmarkContext): ContractCase {
  const share = kind === 'plain' ? 1 : EVENTS_OF_CHILDREN;
  const blocks = Math.ceil(sizes.contractEvents / LOGS_PER_BLOCK / share);
  const chain = chainOf(kind, sizes.contractChildren);
  return { name: kind, kind, blocks, chain, target: { atLeast: FASTER_AT_LEAST } };
}

/** Without depth of finality: the head does not move, so blocks above the final one would never be filled in. */
function chainOf(kind: ContractKind, children: number): Partial<BenchNodeOptions> {
  const options = { finalityDepth: 0, transferShare: 1 };
  return kind === 'plain'
    ? { ...options, tokens: 1 }
    : { ...options, children, tokens: Math.ceil(children / CHILDREN_PER_STRANGER) };
}

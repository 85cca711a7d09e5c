import type { Egress } from '@chainstead/egress';
import type { StateReader } from '@chainstead/node-reads';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { createEnsNames } from './ens/ens-names.ts';
import {
  NAME_CONTRACTS,
  type NameAnswer,
  type NameContracts,
  type NameNodes,
  type NameQuestion,
  nameKind,
} from './name-chains.ts';
import { saveName } from './resolve-names.ts';
import { createUnstoppableNames } from './unstoppable/unstoppable-names.ts';

export interface NameReaderOptions {
  readonly nodes: readonly NameNodes[];
  /** Null: gateways of off-chain names are not queried (`ENS_GATEWAYS`). */
  readonly gateways: Egress | null;
  /** @default those that the services document */
  readonly contracts?: Partial<NameContracts>;
}

export function createNameReader({
  nodes,
  gateways,
  contracts: ownContracts,
}: NameReaderOptions): StateReader<NameQuestion, NameAnswer> {
  const contracts = { ...NAME_CONTRACTS, ...ownContracts };
  const ens = createEnsNames(nodes, gateways, contracts);
  const unstoppable = createUnstoppableNames(nodes, contracts);
  return {
    kind: nameKind,
    async read({ database }, question, signal) {
      const names = question.service === 'ens' ? ens : unstoppable;
      if (names === null)
        throw new StateUnavailableError(`This worker has no nodes for ${question.service} names`);
      const { subject } = question;
      const answer =
        question.wanted === 'address'
          ? await names.addressOf(subject, signal)
          : await names.nameOf(subject, signal);
      await saveName(database, question, answer);
      return answer;
    },
  };
}

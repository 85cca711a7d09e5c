/** Former names are refused: if ignored, the key would silently take the default. */
import { createChainRegistry } from '@chainstead/chains';
import { chainKeys, chainSuffix } from './chain-keys.ts';
import { globalKeys } from './global-keys.ts';
import { factsOf, type KeyFacts } from './key-facts.ts';
import { type ConfigurationProblem, problemWith } from './problems.ts';
import type { ConfigurationSource } from './sources.ts';

type KeyName = keyof typeof globalKeys.shape | keyof typeof chainKeys.shape;

export const RENAMED_KEYS: Readonly<Record<string, KeyName>> = {
  API_PROCESSES: 'ROLES',
  INGEST_PROCESSES: 'ROLES',
  INDEX_WAIT_MS: 'ON_DEMAND_WAIT_MS',
  KEEP_BLOCKS: 'RETENTION_BLOCKS',
  KEEP_SINCE: 'RETENTION_FROM_DATE',
  ON_DEMAND_PER_KEY: 'ON_DEMAND_CONCURRENCY_PER_KEY',
  PROOF: 'VERIFICATION',
  PROVER_RATE: 'VERIFY_BLOCKS_PER_SECOND',
  PROVE_SENDERS: 'VERIFY_SENDERS',
  WEBHOOK_RETRY_SCHEDULE: 'WEBHOOK_RETRIES',
  WORKER_PROCESSES: 'ROLES',
};

const PROCESSES_MOVED = 'write the number behind the role, such as api:2,ingest,worker,';

interface NewKey {
  readonly key: string;
  readonly facts: KeyFacts;
}

export function renamedKeyProblems(
  sources: readonly ConfigurationSource[],
  chainNames: readonly string[],
): ConfigurationProblem[] {
  const renamed = newKeysByOldKey(chainNames);
  return sources.flatMap(({ origin, variables }) =>
    Object.entries(variables).flatMap(([key, given]) => {
      const now = renamed.get(key);
      if (now === undefined) return [];
      const place = origin === 'environment' ? 'the environment' : origin;
      const remedy = now.key === 'ROLES' ? PROCESSES_MOVED : 'rename it';
      const problem = problemWith(now.key, given, `is now ${now.key}: ${remedy} in ${place}`, now.facts);
      return [{ ...problem, key }];
    }),
  );
}

/** Whole keys: the environment may hold similar ones, such as `PROOF_READER`. */
function newKeysByOldKey(chainNames: readonly string[]): ReadonlyMap<string, NewKey> {
  const known = createChainRegistry()
    .all()
    .map(({ key }) => key);
  const suffixes = [...known, ...chainNames].map((name) => `_${chainSuffix(name)}`);
  const global = new Map(Object.entries(globalKeys.shape));
  const perChain = new Map(Object.entries(chainKeys.shape));
  return new Map(
    Object.entries(RENAMED_KEYS).flatMap(([old, name]) =>
      [
        { schema: global.get(name), endings: [''] },
        { schema: perChain.get(name), endings: suffixes },
      ].flatMap(({ schema, endings }) =>
        schema === undefined
          ? []
          : endings.map((ending): [string, NewKey] => [
              `${old}${ending}`,
              { key: `${name}${ending}`, facts: factsOf(schema) },
            ]),
      ),
    ),
  );
}

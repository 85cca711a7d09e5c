import { chainKeys } from '../../apps/chainstead/src/configuration/chain-keys.ts';
import { globalKeys } from '../../apps/chainstead/src/configuration/global-keys.ts';
import {
  factsOf,
  KEY_GROUPS,
  type KeyFacts,
  type KeyGroup,
} from '../../apps/chainstead/src/configuration/key-facts.ts';

const EXAMPLE_CHAIN = 'ETH';
const LINE_WIDTH = 118;

/** Others have a good default. docs/reference/settings.md has all. */
const SHOWN = [
  'CHAINS',
  'RPC_URLS_ETH',
  'START_BLOCK_ETH',
  'DATASETS',
  'TRANSACTIONS_ETH',
  'DATABASE_URL',
  'HOST',
  'API_KEYS',
  'METRICS_PORT',
  'LOG_LEVEL',
];

export function renderEnvExample(): string {
  const settings = KEY_GROUPS.flatMap((group) => settingsOf(group, EXAMPLE_CHAIN));
  const shown = SHOWN.flatMap((key) => settings.filter(({ name }) => name === key));
  return `${[INTRO, ...shown.map(renderKey)].join('\n\n')}\n`;
}

const INTRO = `\
# Chainstead configuration. "npm run generate" writes this file from apps/chainstead/src/configuration. Don't edit it.
#
# Copy it to .env: every command and docker compose read that file in the current folder. Environment variables win over it.
# All settings are optional. These are the ones that most users set; docs/reference/settings.md describes all.
# Settings that end in _ETH exist for each chain in CHAINS and GATEWAY_CHAINS. Write the chain in upper case, with _ for -:
# RPC_URLS_BASE_SEPOLIA.
# "chainstead config validate" checks your settings. "chainstead config print" shows them, without secrets.`;

export interface Setting {
  readonly name: string;
  readonly facts: KeyFacts;
}

export function settingsOf(group: KeyGroup, chain: string): readonly Setting[] {
  const global = Object.entries(globalKeys.shape).map(([name, schema]) => ({ name, facts: factsOf(schema) }));
  const ofChains = Object.entries(chainKeys.shape).map(([key, schema]) => {
    return { name: `${key}_${chain}`, facts: factsOf(schema) };
  });
  return [...global, ...ofChains].filter(({ facts }) => facts.group === group);
}

function renderKey({ name, facts }: Setting): string {
  const absent = facts.default === undefined ? `Default: ${facts.whenAbsent ?? 'nothing'}. ` : '';
  const text = `${facts.description}. ${absent}Values: ${facts.allowed}.`;
  return [...wrap(text).map((line) => `# ${line}`), `#${name}=${facts.default ?? facts.example}`].join('\n');
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > LINE_WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

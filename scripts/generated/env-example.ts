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

export function renderEnvExample(): string {
  const sections = KEY_GROUPS.map((group) => {
    const settings = settingsOf(group, EXAMPLE_CHAIN).flatMap(({ name, facts }) => ['', ...renderKey(name, facts)]);
    return [`# ── ${group} ──`, ...settings].join('\n');
  });
  return `${[INTRO, ...sections].join('\n\n')}\n`;
}

const INTRO = `\
# Chainstead configuration. "npm run generate" writes this file from apps/chainstead/src/configuration. Don't edit it.
#
# Copy it to .env: every command and docker compose read that file in the current folder. Environment variables win over it.
# All settings are optional. Settings that end in _ETH exist for each chain in CHAINS and GATEWAY_CHAINS. Write the chain in
# upper case, with _ for -: RPC_URLS_BASE_SEPOLIA.
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

function renderKey(key: string, facts: KeyFacts): string[] {
  const absent = facts.default === undefined ? `Default: ${facts.whenAbsent ?? 'nothing'}. ` : '';
  const text = `${facts.description}. ${absent}Values: ${facts.allowed}.`;
  return [...wrap(text).map((line) => `# ${line}`), `#${key}=${facts.default ?? facts.example}`];
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

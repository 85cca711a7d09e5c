import { chainKeys } from './chain-keys.ts';
import { globalKeys } from './global-keys.ts';
import { factsOf, KEY_GROUPS, type KeyFacts, type KeyGroup } from './key-facts.ts';

const EXAMPLE_CHAIN = 'ETH';
const LINE_WIDTH = 118;

export function renderEnvExample(): string {
  const sections = KEY_GROUPS.map((group) => renderGroup(group));
  return `${[intro(), ...sections].join('\n\n')}\n`;
}

function intro(): string {
  return [
    '# Chainstead configuration. "npm run generate" writes this file from apps/chainstead/src/configuration. Don\'t edit it.',
    '#',
    '# Copy it to .env: every command and docker compose read that file in the current folder. Environment variables win over it.',
    '# All settings are optional. Settings that end in _ETH exist for each chain in CHAINS and GATEWAY_CHAINS. Write the chain in',
    '# upper case, with _ for -: RPC_URLS_BASE_SEPOLIA.',
    '# "chainstead config validate" checks your settings. "chainstead config print" shows them, without secrets.',
  ].join('\n');
}

function renderGroup(group: KeyGroup): string {
  return [`# ── ${group} ──`, ...keysOf(group).flatMap(([key, facts]) => ['', ...renderKey(key, facts)])].join('\n');
}

function keysOf(group: KeyGroup): [string, KeyFacts][] {
  const global = Object.entries(globalKeys.shape).map(([key, schema]): [string, KeyFacts] => [key, factsOf(schema)]);
  const chain = Object.entries(chainKeys.shape).map(([key, schema]): [string, KeyFacts] => [
    `${key}_${EXAMPLE_CHAIN}`,
    factsOf(schema),
  ]);
  return [...global, ...chain].filter(([, facts]) => facts.group === group);
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

import { chainKeys } from './chain-keys.ts';
import { globalKeys } from './global-keys.ts';
import { factsOf, KEY_GROUPS, type KeyFacts, type KeyGroup } from './key-facts.ts';

/** docs/reference/settings.md: one heading per setting, in the groups of `.env.example`. */
export function renderSettingsPage(): string {
  return `# Settings

This page lists every setting. All are optional. Set them in the environment, or in a file: \`.env\` in the current folder, or the one of \`--config\`. The environment wins.
[.env.example](../../.env.example) has the same settings as a file to copy.

- \`npx chainstead config validate\` checks your settings. \`npx chainstead config print\` shows them, without secrets.
- Names that end in \`_<CHAIN>\` exist for each chain of \`CHAINS\` and \`GATEWAY_CHAINS\`. Write the chain in upper case, with \`_\` for \`-\`
  (base-sepolia: RPC_URLS_BASE_SEPOLIA).
- \`npm run generate\` writes this page.

${KEY_GROUPS.map((group) => `## ${group}\n\n${settingsOf(group).map(renderSetting).join('\n')}`).join('\n')}`;
}

interface Setting {
  /** With `_<CHAIN>` if each chain has its own. */
  readonly name: string;
  readonly facts: KeyFacts;
}

function settingsOf(group: KeyGroup): Setting[] {
  const global = Object.entries(globalKeys.shape).map(([name, schema]) => ({ name, facts: factsOf(schema) }));
  const ofChains = Object.entries(chainKeys.shape).map(([name, schema]) => ({
    name: `${name}_<CHAIN>`,
    facts: factsOf(schema),
  }));
  return [...global, ...ofChains].filter(({ facts }) => facts.group === group);
}

function renderSetting({ name, facts }: Setting): string {
  const lines = [
    `- **Values:** ${inline(facts.allowed)}`,
    facts.default === undefined
      ? `- **If not set:** ${inline(facts.whenAbsent ?? 'nothing')}`
      : `- **Default:** \`${facts.default}\``,
    ...(facts.default === undefined ? [`- **Example:** \`${facts.example}\``] : []),
  ];
  return `### ${inline(name)}\n\n${inline(facts.description)}.\n\n${lines.join('\n')}\n`;
}

/** Text as Markdown: `<CHAIN>` and `*` outside of code are neither tags nor emphasis. */
function inline(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replaceAll(/[<*]/g, String.raw`\$&`) : part))
    .join('`');
}

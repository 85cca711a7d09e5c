import { KEY_GROUPS } from '../../apps/chainstead/src/configuration/key-facts.ts';
import { type Setting, settingsOf } from './env-example.ts';

/** docs/reference/settings.md: one heading per setting, by group. */
export function renderSettingsPage(): string {
  return `# Settings

This page lists every setting. All are optional. Set them in the environment, or in a file: \`.env\` in the current folder, or the one of \`--config\`. The environment wins.
[.env.example](../../.env.example) has those that most users set, as a file to copy.

- \`npx chainstead config validate\` checks your settings. \`npx chainstead config print\` shows them, without secrets.
- Names that end in \`_<CHAIN>\` exist for each chain of \`CHAINS\` and \`GATEWAY_CHAINS\`. Write the chain in upper case, with \`_\` for \`-\`
  (base-sepolia: RPC_URLS_BASE_SEPOLIA).
- \`npm run generate\` writes this page.

${KEY_GROUPS.map((group) => `## ${group}\n\n${settingsOf(group, '<CHAIN>').map(renderSetting).join('\n')}`).join('\n')}`;
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

function inline(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replaceAll(/[<*]/g, String.raw`\$&`) : part))
    .join('`');
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sidebar } from '../../site/.vitepress/sidebar.ts';
import { REPOSITORY_ROOT } from '../check/source-files.ts';

/** Returns `llms.txt` of the documentation site: each page with its first sentence, for agents that choose what to read. */
export function renderLlmsText(): string {
  const groups = sidebar.map(
    ({ text, items }) => `## ${text}\n\n${items.map((item) => lineOf(item)).join('\n')}\n`,
  );
  return `# Chainstead

> Self-hosted blockchain indexer with a Moralis-compatible API. It reads EVM chains and Aptos into your own Postgres, and serves REST, JSON-RPC, webhooks, SQL and MCP.

Agents connect at \`/mcp\` of a server. Read [Skill for agents](/api/agent-skill) first.

${groups.join('\n')}`;
}

function lineOf({ text, link }: { readonly text: string; readonly link: string }): string {
  const sentence = firstSentence(readPage(link));
  return `- [${text}](${link})${sentence === null ? '' : `: ${sentence}`}`;
}

function readPage(link: string): string {
  const page = `${link}${link.endsWith('/') ? 'index' : ''}.md`;
  const isOfRoot = /^\/[A-Z]+\.md$/.test(page);
  return readFileSync(join(REPOSITORY_ROOT, isOfRoot ? page : `docs${page}`), 'utf8');
}

/** Returns the first sentence below the title, without links. Null if the page starts with a heading, table or list. */
export function firstSentence(markdown: string): string | null {
  const body = /^# .*\n+(?:<!--.*-->\n+)?(?<first>(?:[^\n]+\n)+)/m.exec(markdown)?.groups?.first;
  if (body === undefined || /^(?:#|\||-|```|<|\d+\.)/.test(body)) return null;
  const plain = body
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain;
}

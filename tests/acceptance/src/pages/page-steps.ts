/** Steps of a page of the documentation, in their order: code blocks, and commands within sentences and tables. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

export interface PageStep {
  readonly kind: 'command' | 'settings' | 'statements' | 'file';
  readonly code: string;
  /** Name of a file that the reader saves. */
  readonly name?: string;
}

/** Other languages, as `json`, show responses. */
const KINDS: Readonly<Record<string, PageStep['kind']>> = {
  sh: 'command',
  bash: 'command',
  env: 'settings',
  sql: 'statements',
  js: 'file',
  ini: 'file',
};
const BLOCK = /^( *)```(\w+)\n([\s\S]*?)^ *```|`((?:[A-Z_]+=\S+ )*npx chainstead[^`]*)`/gm;

/** @param page below `docs` */
export async function readPageSteps(page: string): Promise<readonly PageStep[]> {
  const text = await readFile(join(ROOT, 'docs', page), 'utf8');
  return [...text.matchAll(BLOCK)].flatMap<PageStep>(
    ({ index, 1: indent = '', 2: language = '', 3: block, 4: inline }) => {
      if (block === undefined) return [{ kind: 'command', code: inline ?? '' }];
      const kind = KINDS[language];
      if (kind === undefined) return [];
      const code = block.replaceAll(`\n${indent}`, '\n').trim();
      if (kind !== 'file') return [{ kind, code }];
      const name = [...text.slice(0, index).matchAll(/[Ss]ave [^.`]*`([^`]+)`/g)].at(-1)?.[1] ?? '';
      return [{ kind, code, name }];
    },
  );
}

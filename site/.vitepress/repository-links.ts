import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { REPOSITORY } from './repository.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Pages of the repository's root, which lie next to those of docs on the site. */
export const ROOT_PAGE = /^(CHANGELOG|CONTRIBUTING|SECURITY)\.md(?=#|$)/;

/**
 * The place on the site of a link that works in the repository. Pages stay as they are.
 * @param page the page with the link, as the site has it: `operate/alerts.md`, `CONTRIBUTING.md`
 * @returns undefined for a link to a page of docs, to a heading or to another site
 */
export function linkOnSite(page: string, href: string): string | undefined {
  if (href === '' || /^(?:[a-z]+:|#|\/)/.test(href)) return undefined;
  const source = ROOT_PAGE.test(page) ? page : `docs/${page}`;
  const target = join(dirname(source), href);
  const [path = '', anchor] = target.split('#');
  if (ROOT_PAGE.test(target)) return `/${target.replace('.md', '')}`;
  if (target.startsWith('docs/') && path.endsWith('.md'))
    return source.startsWith('docs/') ? undefined : `/${target.slice('docs/'.length)}`;
  const file = join(ROOT, path);
  if (!existsSync(file)) return undefined;
  if (statSync(file).isDirectory()) return `${REPOSITORY}/tree/main/${path}`;
  const isForReaders = path.startsWith('docs/') || !path.includes('/');
  if (!isForReaders || path.endsWith('.md')) return `${REPOSITORY}/blob/main/${target}`;
  return `/${FILES}/${path}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** Folder of the site with linked files that are no pages: alerts.yml, docker-compose.yml. */
export const FILES = 'files';

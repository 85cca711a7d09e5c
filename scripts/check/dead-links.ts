import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { headingSlug } from '../../site/.vitepress/heading-slug.ts';

/** Links of Markdown pages that lead to no file, to no heading, or to the top of the same page, as `page -> link`. Paths are from `root`. */
export function findDeadLinks(root: string, pages: readonly string[]): string[] {
  const anchors = new Map<string, ReadonlySet<string>>();
  const anchorsOf = (path: string): ReadonlySet<string> => {
    const known = anchors.get(path) ?? headingAnchors(readFileSync(join(root, path), 'utf8'));
    anchors.set(path, known);
    return known;
  };
  return pages.flatMap((page) =>
    linksOf(readFileSync(join(root, page), 'utf8'))
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? page : normalize(join(dirname(page), path));
        if (!existsSync(join(root, target))) return true;
        if (anchor === undefined) return target === page;
        return target.endsWith('.md') && !anchorsOf(target).has(anchor);
      })
      .map((link) => `${page} -> ${link}`),
  );
}

/** Links of a page within the repository, without those in code blocks. */
export function linksOf(markdown: string): string[] {
  return [...withoutCode(markdown).matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)].map((match) => match[1] ?? '');
}

/** The anchors that GitHub gives the headings of a page: the second of two equal ones ends in `-1`. */
export function headingAnchors(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(markdown).matchAll(/^#{1,6} (.*)$/gm)) {
    const slug = headingSlug(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
    let anchor = slug;
    for (let copies = 1; anchors.has(anchor); copies++) anchor = `${slug}-${copies}`;
    anchors.add(anchor);
  }
  return anchors;
}

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
}

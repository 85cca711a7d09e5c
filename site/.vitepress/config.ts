import { defineConfig } from 'vitepress';
import { headingSlug } from './heading-slug.ts';
import { sidebar } from './sidebar.ts';

/** The pages of `docs`, with CONTRIBUTING, CHANGELOG and SECURITY, as a static site in `build/site`. */
export default defineConfig({
  title: 'Chainstead',
  description: 'Self-hosted blockchain indexer with a Moralis-compatible API',
  // Copies that scripts/docs-site.ts makes: modules of this package are not found from outside of it.
  srcDir: 'pages',
  outDir: '../build/site',
  cacheDir: '../build/site-cache',
  cleanUrls: true,
  markdown: {
    // As on GitHub, so that one link works in both places.
    anchor: { slugify: headingSlug },
    config(markdown) {
      // Pages of the repository's root lie next to those of docs. Files that are no pages, such as alerts.yml, keep their names without a link.
      markdown.core.ruler.push('links-of-the-repository', ({ tokens }) => {
        for (const { children } of tokens)
          for (const [index, token] of (children ?? []).entries()) {
            const href = token.type === 'link_open' ? String(token.attrGet('href')) : '';
            const root = /^(?:\.\.\/)+(CHANGELOG|CONTRIBUTING|SECURITY)\.md/.exec(href)?.[1];
            if (root !== undefined) token.attrSet('href', `/${root}`);
            else if (href.startsWith('docs/')) token.attrSet('href', href.replace('docs/', '/'));
            else if (
              href !== '' &&
              (/^http:\/\/localhost/.test(href) || !/^(https?:|mailto:|#)|\.md($|#)/.test(href))
            ) {
              const level = token.level;
              const close = children?.find(
                (one, at) => at > index && one.type === 'link_close' && one.level === level,
              );
              for (const end of [token, close])
                if (end !== undefined) Object.assign(end, { type: 'text', tag: '', nesting: 0, content: '' });
            }
          }
      });
    },
  },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
  },
});

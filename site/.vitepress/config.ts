import { defineConfig } from 'vitepress';
import { headingSlug } from './heading-slug.ts';
import { REPOSITORY, VERSION } from './repository.ts';
import { FILES, linkOnSite, ROOT_PAGE } from './repository-links.ts';
import { searchOptions } from './search-options.ts';
import { sidebar } from './sidebar.ts';

const EXAMPLES = /<!-- Generated: examples -->[\s\S]*?<!-- End of generated: examples -->/g;

/** The pages of `docs`, with CONTRIBUTING, CHANGELOG and SECURITY, as a static site in `build/site`. */
export default defineConfig({
  title: 'Chainstead',
  description: 'Self-hosted blockchain indexer with a Moralis-compatible API',
  // Copies that scripts/docs-site.ts makes: modules of this package are not found from outside of it.
  srcDir: 'pages',
  outDir: '../build/site',
  cacheDir: '../build/site-cache',
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    // As on GitHub, so that one link works in both places.
    anchor: { slugify: headingSlug },
    languageAlias: { env: 'ini' },
    config(markdown) {
      markdown.core.ruler.push('links-of-the-repository', ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          if (token.type !== 'link_open') continue;
          const place = linkOnSite(env.relativePath, String(token.attrGet('href')));
          if (place === undefined) continue;
          token.attrSet('href', place);
          // Otherwise the site would look for a page.
          if (place.startsWith(`/${FILES}/`)) token.attrSet('target', '_blank');
        }
      });
      const drawFence = markdown.renderer.rules.fence;
      markdown.renderer.rules.fence = (tokens, index, ...others) => {
        const { info = '', content = '' } = tokens[index] ?? {};
        if (info.trim() === 'mermaid')
          return `<pre class="mermaid" v-pre>${markdown.utils.escapeHtml(content)}</pre>`;
        return drawFence?.(tokens, index, ...others) ?? '';
      };
    },
  },
  transformPageData(page) {
    // Pages of the repository's root, for the link to edit them.
    if (ROOT_PAGE.test(page.filePath)) page.filePath = `../${page.filePath}`;
  },
  themeConfig: {
    nav: [
      { text: 'Try it', link: '/start/demo' },
      { text: 'API', link: '/api/endpoints' },
      {
        text: VERSION,
        items: [
          { text: 'Changelog', link: '/CHANGELOG' },
          { text: 'Releases', link: `${REPOSITORY}/releases` },
        ],
      },
    ],
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    editLink: { pattern: `${REPOSITORY}/edit/main/docs/:path`, text: 'Edit this page' },
    sidebar,
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: { searchOptions },
        // Responses of examples name every field, and would hide the pages that describe it.
        _render: (page, env, markdown) => markdown.render(page.replaceAll(EXAMPLES, ''), env),
      },
    },
  },
});

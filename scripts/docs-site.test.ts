/** Links of the documentation on the site. scripts/docs-site.nightly.test.ts builds it. */
import { expect, test } from 'vitest';
import { REPOSITORY } from '../site/.vitepress/repository.ts';
import { linkOnSite } from '../site/.vitepress/repository-links.ts';

test.each([
  ['api/tokens.md', 'prices.md#candles', undefined],
  ['api/tokens.md', 'https://example.com/a.yml', undefined],
  ['api/tokens.md', '#fields', undefined],
  ['operate/upgrade.md', '../../CHANGELOG.md', '/CHANGELOG'],
  ['CONTRIBUTING.md', 'docs/internals/recipes.md#add-a-chain', '/internals/recipes.md#add-a-chain'],
  ['CONTRIBUTING.md', 'SECURITY.md', '/SECURITY'],
  ['operate/alerts.md', '../prometheus/alerts.yml', '/files/docs/prometheus/alerts.yml'],
  ['start/production.md', '../../docker-compose.yml', '/files/docker-compose.yml'],
  [
    'internals/architecture.md',
    '../../packages/doors/README.md',
    `${REPOSITORY}/blob/main/packages/doors/README.md`,
  ],
  ['internals/architecture.md', '../../bench', `${REPOSITORY}/tree/main/bench`],
])('on %s, the link %s leads to %s', (page, href, place) => {
  expect(linkOnSite(page, href)).toBe(place);
});

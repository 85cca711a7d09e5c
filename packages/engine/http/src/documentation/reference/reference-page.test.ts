import { expect, test } from 'vitest';
import { createReference } from './reference-page.ts';

const document = {
  info: { version: '1.2.3' },
  tags: [{ name: 'Second', description: 'Shown first, since `tags` names it first.' }, { name: 'Unused' }],
  paths: {
    '/first': { get: { tags: ['First'], summary: 'List <b>', responses: { 200: { description: 'A list' } } } },
    '/{chain}/second': {
      post: {
        operationId: 'sendSecond',
        tags: ['Second'],
        parameters: [
          { name: 'chain', in: 'path', required: true, description: 'Name of a chain', example: '"><script>' },
          { name: 'full', in: 'query', schema: { type: 'boolean', default: true } },
        ],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } } },
        responses: {
          200: {
            description: 'A node',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Node: {
        type: 'object',
        required: ['size'],
        properties: {
          size: { type: ['string', 'null'], description: 'Size in bytes', example: '7' },
          children: { type: 'array', items: { $ref: '#/components/schemas/Node' } },
        },
      },
    },
  },
};

const reference = createReference(document, null);

test('shows groups in the order of the tags, groups without a tag last, empty groups not at all', async () => {
  const page = await reference.page();
  expect([...page.matchAll(/<h2>(.*)<\/h2>/g)].map(([, name]) => name)).toEqual(['Second', 'First']);
  expect(page).toContain('<p>Shown first, since <code>tags</code> names it first.</p>');
});

test('fills in examples and defaults, escaped', async () => {
  const page = await reference.operation('sendSecond');
  expect(page).toContain('value="&quot;&gt;&lt;script&gt;"');
  expect(await reference.page()).toContain('List &lt;b&gt;');
  expect(page).toMatch(/<option selected>true/);
  expect(page).toMatch(/<textarea [^>]*>\{\n {2}&quot;size&quot;: &quot;7&quot;\n\}/);
});

test('shows fields with type and description, and a schema inside itself once', async () => {
  const page = await reference.operation('sendSecond');
  expect(page?.match(/<code>size<\/code> <span class="type">string or null<\/span> Size in bytes/g)).toHaveLength(
    2,
  );
  expect(page).toContain('<span class="type">list of Node</span>');
});

test('has an id for operations without one, and none for others', async () => {
  expect(await reference.page()).toContain('id="GET-first"');
  expect(await reference.operation('GET-first')).toContain('<b class="status">200</b> A list');
  expect(await reference.operation('nothing')).toBeNull();
});

test('links to the documentation site, if there is one', async () => {
  const link = '<a href="https://docs.example.com/?a=1&amp;b">Documentation</a>';
  expect(await createReference(document, 'https://docs.example.com/?a=1&b').page()).toContain(link);
  expect(await reference.page()).not.toContain('>Documentation<');
});

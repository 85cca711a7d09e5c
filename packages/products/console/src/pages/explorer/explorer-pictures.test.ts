import type { RequestListener } from 'node:http';
import { seedMetadata } from '@chainstead/nft/testing';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { afterEach, expect, test } from 'vitest';
import { APES, ETH, openExplorerStage, PNG } from '../../testing/explorer-stage.ts';

const OWN = `/console/look-up/picture/eth/${APES}/1`;
const answerPng: RequestListener = (_request, response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end(PNG);

const stage = stageOfFile(() => openExplorerStage({}, (request, response) => answer(request, response)));
const visitor = madeForFile(() => stage.signIn());
let answer: RequestListener = answerPng;
afterEach(() => {
  answer = answerPng;
});

test('a picture is what its bytes are, may do nothing, and is for this site alone', async () => {
  const picture = await stage.get(OWN, visitor);
  expect([picture.status, Buffer.from(await picture.arrayBuffer())]).toEqual([200, PNG]);
  expect(Object.fromEntries(picture.headers)).toMatchObject({
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'private, max-age=3600',
  });
});

test('without a session nothing is asked of anybody', async () => {
  const before = stage.picturesRequested.length;
  expect([303, 401]).toContain((await stage.get(OWN)).status);
  expect([303, 401]).toContain((await stage.get(OWN, undefined, { 'x-api-key': visitor.key })).status);
  expect(stage.picturesRequested).toHaveLength(before);
});

test('a request can’t say where a picture is', async () => {
  const before = stage.picturesRequested.length;
  const place = encodeURIComponent('http://127.0.0.1:1/secret');
  for (const path of [`${OWN}?url=${place}`, `${OWN}?image=${place}&chain=base`])
    expect((await stage.get(path, visitor)).status).toBe(200);
  expect(stage.picturesRequested.slice(before)).toEqual(['/1.png', '/1.png']);
  for (const path of [
    `/console/look-up/picture/eth/${place}`,
    `/console/look-up/picture/eth/${APES}/${place}`,
    `/console/look-up/picture/nowhere/${APES}/1`,
  ])
    expect((await stage.get(path, visitor)).status).toBeGreaterThanOrEqual(400);
});

test.each<[string, RequestListener]>([
  [
    'HTML',
    (_request, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end('<script>alert(1)</script>'),
  ],
  [
    'SVG',
    (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'image/svg+xml' })
        .end('<svg xmlns="http://www.w3.org/2000/svg"/>'),
  ],
  [
    'a redirect into this machine',
    (_request, response) => response.writeHead(302, { location: 'http://127.0.0.2/' }).end(),
  ],
  [
    'a redirect to a file',
    (_request, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  ],
  ['an error', (_request, response) => response.writeHead(500).end(PNG)],
  [
    'a body without end',
    (_request, response) => {
      const piece = Buffer.alloc(1_048_576, PNG);
      const more = (): void => {
        if (!response.destroyed) response.write(piece, () => setImmediate(more));
      };
      more();
    },
  ],
])('%s is no picture', async (_name, listener) => {
  answer = listener;
  const refused = await stage.get(OWN, visitor);
  expect(refused.status).toBe(404);
  expect(refused.headers.get('content-type')).toMatch(/^text\/html/);
  expect(refused.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
  const page = await refused.text();
  expect(page).toContain('can&#39;t be shown');
  expect(page).not.toMatch(/alert\(1\)|127\.0\.0\.2|etc\/passwd/);
});

test.each([
  ['a name of a megabyte', `https://${'x'.repeat(1_000_000)}/`],
  ['a private address', 'http://10.1.2.3/x.png'],
  ['a name of this machine', 'http://localhost:1/x.png'],
  ['script', 'javascript:alert(1)'],
])('%s is not asked', async (_name, image) => {
  const [id] = [String(1_000 + image.length)];
  await seedMetadata(stage.database, ETH, { address: APES, id }, { text: JSON.stringify({ image }) });
  const refused = await stage.get(`/console/look-up/picture/eth/${APES}/${id}`, visitor);
  expect(refused.status).toBe(404);
  expect((await refused.text()).length).toBeLessThan(20_000);
});

test('what nobody named is not found', async () => {
  expect((await stage.get(`/console/look-up/picture/eth/${APES}/99`, visitor)).status).toBe(404);
  expect((await stage.get(`/console/look-up/picture/eth/${APES}`, visitor)).status).toBe(404);
});

import { gunzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import type { ApiApp } from '../api-context.ts';
import { createDemoApi, TOKEN } from '../testing/demo-api.ts';

const { app } = createDemoApi();

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
}
interface Operation {
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security?: readonly unknown[];
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly securitySchemes: object; readonly schemas: Readonly<Record<string, unknown>> };
  readonly security: readonly unknown[];
}

async function readDocument(): Promise<Document> {
  return (await app.request('/openapi.json')).json() as Promise<Document>;
}

describe('/openapi.json', () => {
  test('is OpenAPI 3.1 and describes parameters by the schemas that read them', async () => {
    const document = await readDocument();
    expect(document.openapi).toBe('3.1.0');
    const operation = document.paths['/demo/{address}/rows']?.get;
    const parameters = operation?.parameters ?? [];
    expect(parameters.map((parameter) => `${parameter.in} ${parameter.name}`).sort()).toEqual([
      'path address',
      'query chain',
      'query contract_addresses',
      'query cursor',
      'query from_block',
      'query from_date',
      'query limit',
      'query order',
      'query to_block',
      'query to_date',
    ]);
    const schemaOf = (name: string) => parameters.find((parameter) => parameter.name === name)?.schema;
    expect(schemaOf('limit')).toMatchObject({ type: 'integer', minimum: 1, default: 50 });
    expect(schemaOf('order')).toMatchObject({ type: 'string', enum: ['ASC', 'DESC'], default: 'DESC' });
    expect(schemaOf('from_block')).toMatchObject({ type: 'integer', minimum: 0 });
    expect(schemaOf('contract_addresses')).toMatchObject({ type: 'array', items: { type: 'string' } });
    expect(parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name)).toEqual([
      'address',
    ]);
    expect(Object.keys(operation?.responses ?? {})).toEqual(['200', '400', '401', '403']);
    expect(operation?.responses['403']).toMatchObject({
      content: {
        'application/json': { example: { message: expect.stringContaining('lacks the scope "admin"') } },
      },
    });
    expect(Object.keys(document.paths['/health']?.get?.responses ?? {})).not.toContain('403');
  });

  test('names the two ways to send a key, and the probes as open', async () => {
    const document = await readDocument();
    expect(document.components.securitySchemes).toEqual({
      ApiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      Bearer: { type: 'http', scheme: 'bearer' },
    });
    expect(document.security).toEqual([{ ApiKey: [] }, { Bearer: [] }]);
    expect(document.paths['/health']?.get?.security).toEqual([]);
    expect(document.components.schemas).toHaveProperty('Error');
  });

  test('is not sent again to a client that has it', async () => {
    const first = await app.request('/openapi.json');
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[0-9a-f]{32}"$/);
    for (const known of [etag, `"other", ${etag}`, '*']) {
      const again = await app.request('/openapi.json', { headers: { 'if-none-match': known } });
      expect(again.status).toBe(304);
      expect(await again.text()).toBe('');
    }
    expect((await app.request('/openapi.json', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  test('is compressed once for clients that ask for it', async () => {
    const response = await app.request('/openapi.json', { headers: { 'accept-encoding': 'gzip' } });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(JSON.parse(gunzipSync(Buffer.from(await response.arrayBuffer())).toString())).toEqual(
      await readDocument(),
    );
  });
});

describe('the root', () => {
  test('says what this is, in JSON and for browsers in HTML, and leads to the documentation', async () => {
    const plain = await app.request('/');
    expect(await plain.json()).toEqual({
      name: 'Chainstead',
      version: '0.0.0-test',
      documentation: '/docs',
      openapi: '/openapi.json',
    });
    const page = await app.request('/', { headers: { accept: 'text/html' } });
    const html = await page.text();
    for (const [, path = ''] of html.matchAll(/href="([^"]+)"/g))
      expect([path, (await app.request(`/${path}`)).status]).toEqual([path, 200]);
  });

  test('has what browsers and people ask for beside it', async () => {
    const icon = await app.request('/favicon.ico');
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    const slash = await app.request('/docs/');
    expect([slash.status, slash.headers.get('location')]).toEqual([308, '../docs']);
  });
});

describe('examples', () => {
  const exampleIn = async (api: ApiApp, name: string): Promise<unknown> => {
    const document = (await (await api.request('/openapi.json')).json()) as {
      paths: Record<string, { get: { parameters: { name: string; example?: unknown }[] } }>;
    };
    const parameters = document.paths['/demo/{address}/rows']?.get.parameters;
    return parameters?.find((parameter) => parameter.name === name)?.example;
  };

  test('are those of the operation, else those of all', async () => {
    const examples = async () => ({
      '*': { chain: 'base', limit: 3 },
      'GET /demo/{address}/rows': { address: TOKEN, limit: 7, contract_addresses: TOKEN },
    });
    const { app: api } = createDemoApi({ examples });
    expect(await exampleIn(api, 'contract_addresses')).toEqual([TOKEN]);
    expect(await Promise.all(['chain', 'limit', 'address', 'order'].map((name) => exampleIn(api, name)))).toEqual(
      ['base', 7, TOKEN, undefined],
    );
  });

  test('are left out while they can not be read, and asked for again', async () => {
    let isAway = true;
    const { app: api } = createDemoApi({
      examples: async () => {
        if (isAway) throw new Error('away');
        return { '*': { chain: 'base' } };
      },
    });
    expect(await exampleIn(api, 'chain')).toBeUndefined();
    isAway = false;
    expect(await exampleIn(api, 'chain')).toBe('base');
  });
});

describe('operations that depend on stored definitions', () => {
  const pathsIn = async (api: ApiApp): Promise<readonly string[]> => {
    const document = (await (await api.request('/openapi.json')).json()) as { paths: object };
    return Object.keys(document.paths);
  };
  const adding =
    (...added: readonly string[]) =>
    (given: object) => {
      const { paths, ...rest } = given as { paths: object };
      const operation = { get: { responses: { '200': { description: 'All' } } } };
      return { ...rest, paths: { ...paths, ...Object.fromEntries(added.map((path) => [path, operation])) } };
    };

  test('change with the definitions, and are read again after a change alone', async () => {
    let names: readonly string[] = [];
    let reads = 0;
    const read = async () => {
      reads += 1;
      return adding(...names.map((name) => `/added/${name}`));
    };
    const { app: api } = createDemoApi({ additions: { readState: async () => names.join(), read } });
    const plain = await pathsIn(api);
    expect(await pathsIn(api)).toEqual(plain);
    expect(reads).toBe(1);
    names = ['one', 'two'];
    await vi.waitFor(
      async () => expect(await pathsIn(api)).toEqual([...plain, '/added/one', '/added/two']),
      5_000,
    );
    expect(reads).toBe(2);
    expect(await (await api.request('/docs')).text()).toContain('/added/two');
    names = ['two'];
    await vi.waitFor(async () => expect(await pathsIn(api)).toEqual([...plain, '/added/two']), 5_000);
  });

  test('are added once for requests that come together', async () => {
    let additions = 0;
    const read = async () => (document: object) => {
      additions += 1;
      return document;
    };
    const { app: api } = createDemoApi({ additions: { readState: async () => '', read } });
    await Promise.all(Array.from({ length: 8 }, () => pathsIn(api)));
    expect(additions).toBe(1);
  });

  test('are left out while they can not be read', async () => {
    let isAway = true;
    const failing = async () => {
      if (isAway) throw new Error('away');
      return adding('/added');
    };
    const { app: api } = createDemoApi({ additions: { readState: async () => '', read: failing } });
    const plain = await pathsIn(api);
    isAway = false;
    expect(await pathsIn(api)).toEqual([...plain, '/added']);
  });
});

describe('/docs', () => {
  test('fills in nothing that leaves rows out: examples become the values of the first request', async () => {
    const parameters = (await readDocument()).paths['/demo/{address}/rows']?.get?.parameters ?? [];
    const filledIn = parameters.filter(
      ({ schema }) => schema.example !== undefined || schema.default !== undefined,
    );
    expect(filledIn.map(({ name }) => name).sort()).toEqual(['address', 'chain', 'limit', 'order']);
  });

  test('works offline under a strict policy: everything that the page loads is served here', async () => {
    const response = await app.request('/docs');
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    const html = await response.text();
    expect(html).not.toMatch(/<script>|<style|\son\w+=|https?:/);
    const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(loaded).toEqual(expect.arrayContaining(['docs/reference.css', 'docs/reference.js', 'docs/icon.svg']));
    for (const path of loaded) {
      const asset = await app.request(new URL(path, 'http://localhost/docs').pathname);
      expect(asset.status).toBe(200);
      expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
  });

  test('loads an operation when it is opened, and is 404 for others', async () => {
    const html = await (await app.request('/docs')).text();
    const [, id = ''] = /<details class="operation" id="([^"]+)">/.exec(html) ?? [];
    const part = await app.request(`/docs/operations/${id}`);
    expect([part.status, await part.text()]).toEqual([200, expect.stringContaining('<form')]);
    expect((await app.request('/docs/operations/nothing')).status).toBe(404);
  });

  test('sends files with a type that browsers use under nosniff', async () => {
    const types = await Promise.all(
      ['reference.js', 'reference.css', 'icon.svg'].map(async (file) =>
        (await app.request(`/docs/${file}`)).headers.get('content-type'),
      ),
    );
    expect(types).toEqual(['text/javascript; charset=utf-8', 'text/css; charset=utf-8', 'image/svg+xml']);
  });
});

import { GRAPHIQL_POLICY, graphiqlHtml, readGraphiqlFile } from '@chainstead/graphql/graphql-route';
import { InvalidParameterError, NotFoundError } from '@chainstead/http';
import { z } from 'zod';
import { type ConsolePage, jsonFile } from '../../console-page.ts';
import { paragraph } from '../../layout/html.ts';

const FILES = '/console/graphql/files';
const CACHE = { 'cache-control': 'private, max-age=3600' };

const operationForm = z.object({
  query: z.string(),
  operationName: z.string().optional(),
  /** JSON. */
  variables: z.string().optional(),
});

/** GraphiQL for the session: its operations need no key. Subscriptions need the API. */
export const graphqlPage: ConsolePage = {
  path: '/graphql',
  title: 'GraphQL',
  group: 'Data',
  addRoutes(routes, { explorer }) {
    routes.view('/graphql', async ({ token }) => {
      if (!explorer.hasGraphql) return { body: WITHOUT_GRAPHQL };
      return {
        content: graphiqlHtml({
          ...{ files: FILES, endpoint: '/console/graphql/run', token, chain: explorer.chains[0]?.key },
          back: { href: '/console', text: 'Back to the console' },
        }),
        type: 'text/html; charset=utf-8',
        headers: { 'content-security-policy': GRAPHIQL_POLICY },
      };
    });
    routes.view('/graphql/files/:name', async ({ parameter }) => {
      const file = await readGraphiqlFile(parameter('name'));
      if (file === null) throw new NotFoundError('There is no such file');
      return { ...file, headers: CACHE };
    });
    routes.change('/graphql/run', operationForm, async ({ form: { variables, ...operation }, asker }) => {
      if (!explorer.hasGraphql) throw new NotFoundError('GraphQL is off');
      const sent = { ...operation, variables: variables === undefined ? undefined : parseVariables(variables) };
      const { body } = await explorer.data.post('/graphql', sent, asker);
      return jsonFile(body);
    });
  },
};

const WITHOUT_GRAPHQL = paragraph(
  'GraphQL is off. Set `GRAPHQL=true`, and restart: the program makes a role that can only read. For your own Postgres without the right to create roles, set `DATABASE_ANALYST_URL`.',
);

function parseVariables(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new InvalidParameterError({ parameter: 'variables', message: 'variables is no JSON object' });
  }
}

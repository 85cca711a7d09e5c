/**
 * GraphQL over the tables of contracts and the analytics views. Start reading at serving/graphql-route.ts, then schema/rows-plugin.ts. Imports
 * chains, core, db and http.
 */

export { graphiqlPage } from './serving/graphiql/graphiql-page.ts';
export { openGraphql } from './serving/graphql-route.ts';

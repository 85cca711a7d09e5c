/**
 * GraphQL over the tables of contracts and the analytics views. Start reading at serving/graphql-route.ts, then schema/rows-plugin.ts. Imports
 * core, db and http.
 */

export { openGraphql } from './serving/graphql-route.ts';

/** GraphQL over tables of contracts and analytics views. Start at serving/graphql-route.ts. */

export { graphiqlPage } from './serving/graphiql/graphiql-page.ts';
export { openGraphql } from './serving/graphql-route.ts';

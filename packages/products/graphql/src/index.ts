/** GraphQL over tables of contracts and analytics views. Start at serving/graphql-route.ts. */

export { graphiqlPage, openGraphql } from './serving/graphql-route.ts';

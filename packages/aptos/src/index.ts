/**
 * Aptos: transactions of fullnodes into coins, transfers and holders, and the routes over them. Start reading at `schema.ts`.
 */
export {};

import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  out: './migrations',
  schema: ['./packages/*/src/schema.ts', './packages/*/src/*/schema.ts'],
});

import { Hono } from 'hono';

// Ponder asks for an API; the benchmark doesn't call it.
export default new Hono();

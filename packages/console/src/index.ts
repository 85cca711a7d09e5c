/**
 * The console: what operators look at, and change, in a browser. Start reading at console.ts; a page is a folder in pages/ and a line in
 * pages/registry.ts. Imports everything below apps through its public face; apps import it.
 */
export { type Console, type ConsoleOptions, createConsole } from './console.ts';

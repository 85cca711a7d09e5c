/**
 * The console: the browser interface for operators. Start reading at console.ts; a page is a folder in pages/ and a
 * line in pages/registry.ts. Imports everything below apps through its public interface; apps import it.
 */
export { type Console, type ConsoleOptions, createConsole } from './console.ts';

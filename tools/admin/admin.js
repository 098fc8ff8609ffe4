// npm run admin -- <noun> <verb> ...
// In JavaScript: each Node can read it, and one that can't read TypeScript is told so in a sentence.
import '../install/check.cjs';

await import('./main.ts');

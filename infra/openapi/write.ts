import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApiDocument } from './document.ts';

// npm run openapi: writes the document of the interface anew.
const file = join(import.meta.dirname, '..', '..', 'functions', 'openapi.json');
writeFileSync(file, openApiDocument());
console.log(`${file} is written.`);

import { createHash } from 'node:crypto';

/** The address of a template's example has this host, which only the local stack leads to the simulator. */
export const mediaHost = 'scontent.example.com';

interface ShownFile {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Uploads are counted and not kept, so an example shows a smallest file of its kind. */
const shownFiles: Readonly<Record<string, ShownFile>> = {
  png: {
    type: 'image/png',
    bytes: Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
      'base64',
    ),
  },
  mp4: {
    type: 'video/mp4',
    bytes: Buffer.from('000000186674797069736f6d0000020069736f6d6d703432000000086d646174', 'hex'),
  },
  pdf: {
    type: 'application/pdf',
    bytes: Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n'),
  },
};
const endings: Readonly<Record<string, string>> = { IMAGE: 'png', VIDEO: 'mp4', GIF: 'mp4', DOCUMENT: 'pdf' };

/** Returns the address that the platform shows in place of the handle of a template's example. */
export function exampleAddress(handle: string, format = ''): string {
  const name = createHash('sha256').update(handle).digest('hex').slice(0, 16);
  return `https://${mediaHost}/v/t61/${name}.${endings[format.toUpperCase()] ?? 'png'}`;
}

/** Returns the file at an example's address, which needs no token; undefined for any other path. */
export function exampleAt(path: string): ShownFile | undefined {
  const [, ending = ''] = /^\/v\/t61\/[0-9a-f]{16}\.(png|mp4|pdf)$/.exec(path) ?? [];
  return shownFiles[ending];
}

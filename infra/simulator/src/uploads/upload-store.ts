import { createHash } from 'node:crypto';

export interface UploadedMedium {
  readonly fileType: string;
  readonly bytes: number;
}

/** The bytes of a resumable upload are counted and hashed, not stored. */
export class UploadSession {
  readonly id: string;
  readonly appId: string;
  readonly fileType: string;
  readonly fileLength: number;
  readonly #digest = createHash('sha256');
  #received = 0;
  #handle: string | undefined;

  constructor(facts: {
    readonly id: string;
    readonly appId: string;
    readonly fileType: string;
    readonly fileLength: number;
  }) {
    this.id = facts.id;
    this.appId = facts.appId;
    this.fileType = facts.fileType;
    this.fileLength = facts.fileLength;
    this.#digest.update(facts.id);
  }

  get received(): number {
    return this.#received;
  }

  /** The bytes must fit. Returns the handle once the upload is complete, and at every later call. */
  append(bytes: Buffer): string | undefined {
    if (this.#handle !== undefined) return this.#handle;
    this.#received += bytes.byteLength;
    this.#digest.update(bytes);
    if (this.#received < this.fileLength) return undefined;
    const type = Buffer.from(this.fileType).toString('base64');
    this.#handle = `4::${type}:AR${this.#digest.digest('base64url')}`;
    return this.#handle;
  }
}

export class UploadStore {
  readonly #sessions = new Map<string, UploadSession>();
  readonly #media = new Map<string, UploadedMedium>();

  get(id: string): UploadSession | undefined {
    return this.#sessions.get(id);
  }

  open(facts: { readonly appId: string; readonly fileType: string; readonly fileLength: number }): UploadSession {
    const opaque = createHash('sha256').update(`upload ${this.#sessions.size}`).digest('base64url');
    const session = new UploadSession({ ...facts, id: `upload:${opaque}` });
    this.#sessions.set(session.id, session);
    return session;
  }

  append(session: UploadSession, bytes: Buffer): string | undefined {
    const handle = session.append(bytes);
    if (handle !== undefined) this.#media.set(handle, { fileType: session.fileType, bytes: session.fileLength });
    return handle;
  }

  mediumOf(handle: string): UploadedMedium | undefined {
    return this.#media.get(handle);
  }
}

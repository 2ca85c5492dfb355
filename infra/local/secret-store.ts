import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import * as v from 'valibot';
import { closeAtOnce, openOnLoopback } from '../loopback.ts';
import { secretArn } from './physical-names.ts';

export interface SecretStore {
  readonly endpoint: string;
  stop(): Promise<void>;
}

interface StoredSecret {
  readonly name: string;
  readonly createdAtSeconds: number;
  /** A secret has no value until the first one is put. */
  current?: { readonly versionId: string; readonly text: string; readonly createdAtSeconds: number };
}

/** The SDK creates its typed exception from the body's `__type`. */
class SecretsError extends Error {
  constructor(type: string, message: string) {
    super(message);
    this.name = type;
  }
}

const RequestSchema = v.object({
  SecretId: v.optional(v.string()),
  Name: v.optional(v.string()),
  SecretString: v.optional(v.string()),
  ClientRequestToken: v.optional(v.string()),
});
type SecretsRequest = v.InferOutput<typeof RequestSchema>;

/**
 * Starts an in-memory Secrets Manager on 127.0.0.1 with four operations and no authentication. As in AWS, the
 * template's secrets exist without a value until one is put.
 */
export async function startSecretStore(secrets: readonly { readonly name: string }[]): Promise<SecretStore> {
  const stored = new Secrets();
  for (const { name } of secrets) stored.add(name);
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(request, stored.operations);
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  });
  const port = await openOnLoopback(server, 0);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: () => closeAtOnce(server),
  };
}

type Operations = Readonly<Record<string, (request: SecretsRequest) => object>>;

async function answer(request: IncomingMessage, operations: Operations): Promise<{ status: number; body: object }> {
  try {
    const target = String(request.headers['x-amz-target']);
    const operation = operations[target];
    if (operation === undefined) throw new SecretsError('UnknownOperationException', `${target} is not known here`);
    return { status: 200, body: operation(await readRequest(request)) };
  } catch (error) {
    const known = error instanceof SecretsError;
    return {
      status: known ? 400 : 500,
      body: { __type: known ? error.name : 'InternalServiceError', message: known ? error.message : String(error) },
    };
  }
}

async function readRequest(request: IncomingMessage): Promise<SecretsRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const parsed = v.safeParse(RequestSchema, JSON.parse(Buffer.concat(chunks).toString('utf8')));
  if (!parsed.success) throw new SecretsError('InvalidParameterException', parsed.issues[0].message);
  return parsed.output;
}

class Secrets {
  readonly #secrets = new Map<string, StoredSecret>();

  readonly operations: Operations = {
    'secretsmanager.CreateSecret': (request) => {
      const { Name = '', SecretString } = request;
      if (Name === '') throw new SecretsError('InvalidParameterException', 'Name is required');
      if (this.#secrets.has(Name)) {
        throw new SecretsError('ResourceExistsException', `A secret named ${Name} exists already.`);
      }
      const secret = this.add(Name);
      if (SecretString !== undefined) put(secret, request);
      return identity(secret);
    },
    'secretsmanager.PutSecretValue': (request) => {
      const secret = this.#find(request);
      put(secret, request);
      return { ...identity(secret), VersionStages: ['AWSCURRENT'] };
    },
    'secretsmanager.GetSecretValue': (request) => {
      const secret = this.#find(request);
      if (secret.current === undefined) {
        throw notFound("Secrets Manager can't find the specified secret value for staging label: AWSCURRENT");
      }
      const { text, createdAtSeconds } = secret.current;
      const value = { SecretString: text, VersionStages: ['AWSCURRENT'], CreatedDate: createdAtSeconds };
      return { ...identity(secret), ...value };
    },
    'secretsmanager.DescribeSecret': (request) => {
      const { name, createdAtSeconds, current } = this.#find(request);
      const versions = current === undefined ? {} : { VersionIdsToStages: { [current.versionId]: ['AWSCURRENT'] } };
      return { ARN: secretArn(name), Name: name, CreatedDate: createdAtSeconds, ...versions };
    },
  };

  add(name: string): StoredSecret {
    const secret = { name, createdAtSeconds: Date.now() / 1000 };
    this.#secrets.set(name, secret);
    return secret;
  }

  #find({ SecretId }: SecretsRequest): StoredSecret {
    for (const secret of this.#secrets.values()) {
      if (SecretId === secret.name || SecretId === secretArn(secret.name)) return secret;
    }
    throw notFound("Secrets Manager can't find the specified secret.");
  }
}

function notFound(message: string): SecretsError {
  return new SecretsError('ResourceNotFoundException', message);
}

function put(secret: StoredSecret, { SecretString, ClientRequestToken }: SecretsRequest): void {
  if (SecretString === undefined) throw new SecretsError('InvalidParameterException', 'SecretString is required');
  secret.current = {
    versionId: ClientRequestToken ?? randomUUID(),
    text: SecretString,
    createdAtSeconds: Date.now() / 1000,
  };
}

function identity(secret: StoredSecret): object {
  return {
    ARN: secretArn(secret.name),
    Name: secret.name,
    VersionId: secret.current?.versionId,
  };
}

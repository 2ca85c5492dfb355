import { useEffect } from 'preact/hooks';
import { control, sentenceOf } from './api.ts';
import { reconnections } from './live.ts';
import { Failed, Waiting } from './parts.tsx';
import { askedClient, asUser, type DemoUser, type Service, session, signInAs } from './session.ts';
import { createStore, useStore } from './store.ts';

/* The first user with campaigns, who may not see every client, is the default. */

interface Choice {
  readonly users: readonly DemoUser[];
  /** A user who may see every client has all clients. */
  readonly clients: readonly { readonly id: number; readonly name: string }[];
  readonly isRunning: boolean;
  readonly problem: string;
}

const choice = createStore<Choice>({ users: [], clients: [], isRunning: true, problem: '' });
let busy = false;

const mayAskForAll = (user: DemoUser | undefined) => user?.permissions.includes('BSP_CN') === true;

/** Finds the service and its users, and signs in the first. */
async function begin(): Promise<void> {
  if (busy || session.get() !== undefined) return;
  busy = true;
  try {
    const { url, users } = await control<Service>('service');
    choice.set({ ...choice.get(), users, isRunning: url !== null, problem: '' });
    const first = users.find((user) => user.campaign_ids.length > 0 && !mayAskForAll(user)) ?? users[0];
    if (url !== null && first !== undefined) await become(first);
  } catch (error) {
    choice.set({ ...choice.get(), problem: sentenceOf(error) });
  } finally {
    busy = false;
  }
}

/** Signs in. A user who may see every client keeps the client that was shown. */
async function become(user: DemoUser): Promise<void> {
  const before = choice.get().users.find(({ username }) => username === session.get()?.username);
  const looksAt = askedClient.get() ?? before?.client_id;
  await signInAs(user);
  askedClient.set(mayAskForAll(user) ? looksAt : undefined);
  if (!mayAskForAll(user)) return;
  const { data } = await asUser<{ readonly data: Choice['clients'] }>('GET', '/v1/clients?size=100');
  choice.set({ ...choice.get(), clients: data });
}

/** Returns the signed-in user and the requested client; undefined before the sign-in. */
export function useDemoUser(): { readonly username: string; readonly clientId: number | undefined } | undefined {
  const back = useStore(reconnections);
  useEffect(() => void begin(), [back]);
  const { users } = useStore(choice);
  const who = useStore(session);
  const asked = useStore(askedClient);
  if (who === undefined) return undefined;
  const user = users.find(({ username }) => username === who.username);
  return { username: who.username, clientId: asked ?? user?.client_id };
}

/** Explains why a page of the service has no user. */
export function NoDemoUser() {
  const { isRunning, problem } = useStore(choice);
  const again = () => void begin();
  if (!isRunning) {
    return (
      <Failed
        title="The service is not running"
        problem="This page shows what the service says, and there is none beside this simulator."
        onAgain={again}
      >
        <p>
          <code>npm start</code> runs both.
        </p>
      </Failed>
    );
  }
  return problem === '' ? (
    <Waiting />
  ) : (
    <Failed title="The service does not answer" problem={problem} onAgain={again} />
  );
}

/** Offers the demo user and, for the operator, the client. */
export function DemoUserChoice() {
  const { users, clients, problem } = useStore(choice);
  const who = useStore(session);
  const asked = useStore(askedClient);
  const user = users.find(({ username }) => username === who?.username);
  const change = (username: string) => {
    const next = users.find((each) => each.username === username);
    if (next === undefined) return;
    become(next).then(
      () => choice.set({ ...choice.get(), problem: '' }),
      (error: unknown) => choice.set({ ...choice.get(), problem: sentenceOf(error) }),
    );
  };
  return (
    <>
      <label class="choice">
        <span class="hidden">Demo user</span>
        <select value={who?.username ?? ''} onChange={({ currentTarget }) => change(currentTarget.value)}>
          {users.map(({ username }) => (
            <option key={username} value={username}>
              {username}
            </option>
          ))}
        </select>
      </label>
      {mayAskForAll(user) ? (
        <label class="choice">
          <span class="hidden">Client</span>
          <select
            value={String(asked ?? user?.client_id)}
            onChange={({ currentTarget }) => askedClient.set(Number(currentTarget.value))}
          >
            {clients.map(({ id, name }) => (
              <option key={id} value={String(id)}>
                {name} · {id}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      {problem === '' ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

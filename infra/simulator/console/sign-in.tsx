import { useState } from 'preact/hooks';
import { control } from './api.ts';
import { Action, Problem, useAnswer } from './parts.tsx';
import { type Service, session, signInAs } from './session.ts';
import { useStore } from './store.ts';

export function SignIn() {
  const who = useStore(session);
  const [problem, setProblem] = useState('');
  const { value } = useAnswer(() => control<Service>('service'), 'once');
  if (value !== undefined && value.url === null) {
    return <p class="quiet">The service is not running beside this simulator: with npm start it is.</p>;
  }
  return (
    <fieldset class="action-line sign-in">
      <legend>{who === undefined ? 'Ask as' : `You ask as ${who.username}`}</legend>
      {(value?.users ?? []).map((user) => (
        <Action
          key={user.username}
          tone={who?.username === user.username ? 'main' : 'plain'}
          run={() => signInAs(user)}
          onProblem={setProblem}
        >
          {user.username}
        </Action>
      ))}
      <Problem text={problem} />
    </fieldset>
  );
}

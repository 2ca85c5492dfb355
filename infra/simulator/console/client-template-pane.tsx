import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import {
  assign,
  type ClientTemplate,
  type Offered,
  type Pair,
  readOffered,
  switchTemplate,
  takeAway,
} from './client-templates.ts';
import { notRefused, refusedBy, Why } from './code-words.tsx';
import { Action, BackButton, Badge, Empty, Facts, Json, Problem, useAnswer } from './parts.tsx';
import { Bubble, Phone } from './phone.tsx';
import { phoneView } from './phone-view.ts';
import { addressOf } from './router.ts';
import { numberOf, wordOf } from './texts.ts';

interface PaneProps {
  readonly id: string;
  /** The user and the client. */
  readonly who: string;
  readonly template: ClientTemplate | undefined;
  readonly onChange: () => void;
}

/** Shows a template with what its client decides: the switch and the assignments. */
export function ClientTemplatePane({ id, who, template, onChange }: PaneProps) {
  const back = <BackButton page="client-templates">All templates</BackButton>;
  if (template === undefined) {
    return (
      <Empty title="The client has no such template">
        <p>{id} is not in the list, or further down than was read.</p>
        {back}
      </Empty>
    );
  }
  return <Shown {...{ who, template, onChange }}>{back}</Shown>;
}

type ShownProps = Omit<PaneProps, 'id' | 'template'> & {
  readonly template: ClientTemplate;
  readonly children: ComponentChildren;
};

function Shown({ who, template, onChange, children }: ShownProps) {
  const { name, language, status, category, components, quality_score: quality } = template.platform_template;
  const offered = useAnswer(() => readOffered(template.waba_id), `${who} ${template.waba_id}`);
  const client = offered.value?.client ?? 'the client';
  return (
    <div class="message-pane">
      {children}
      <Phone label={`Preview of ${name}`} name={name} note="Preview, filled in with its examples">
        <Bubble view={phoneView(components, undefined)} />
      </Phone>
      <div class="facts">
        <h2>{name}</h2>
        <p class="badges">
          {template.active ? <Badge value="Switched on" tone="good" /> : <Badge value="Switched off" />}
          <span class="note">
            {language} · {wordOf(category)}
          </span>
        </p>
        <Switch template={template} client={client} onChange={onChange} />
        <Assignments template={template} offered={offered.value} onChange={onChange} />
        <Problem text={offered.problem} />
        <Facts
          facts={[
            ['Platform', <Badge value={status} />],
            ['Quality', wordOf(quality?.score ?? 'UNKNOWN')],
            ['WABA', template.waba_id],
          ]}
        />
        <ul class="links">
          <li>
            <a href={addressOf('dispatches', '', { template: name })}>Dispatches of it</a>
          </li>
          <li>
            <a href={addressOf('templates', template.platform_template.id)}>At the platform, with its review</a>
          </li>
        </ul>
        <details class="raw">
          <summary>As the service lists it</summary>
          <Json value={template} label="Template" />
        </details>
      </div>
    </div>
  );
}

/** Runs an act of the client, and keeps its refusal with what helps. */
function useActing(onChange: () => void) {
  const [refused, setRefused] = useState(notRefused);
  const acting = (act: () => Promise<unknown>) => async () => {
    setRefused(notRefused);
    try {
      await act();
      onChange();
    } catch (error) {
      setRefused(refusedBy(error));
    }
  };
  return { refused, acting };
}

const ignore = () => undefined;

interface SwitchProps extends Pick<ShownProps, 'template' | 'onChange'> {
  readonly client: string;
}

function Switch({ template, client, onChange }: SwitchProps) {
  const { refused, acting } = useActing(onChange);
  const { active } = template;
  return (
    <section class="actions" aria-label="Switch">
      <p>
        {active
          ? `New sends of ${client} may use it. Off, they are refused; dispatches that were accepted go on.`
          : `New sends of ${client} with it are refused. Other clients of the WABA have switches of their own.`}
      </p>
      <div class="action-line">
        <Action tone={active ? 'bad' : 'main'} run={acting(() => switchTemplate(template))} onProblem={ignore}>
          Switch {active ? 'off' : 'on'} for {client}
        </Action>
      </div>
      <Why refused={refused} />
    </section>
  );
}

interface AssignmentsProps extends Pick<ShownProps, 'template' | 'onChange'> {
  readonly offered: Offered | undefined;
}

function Assignments({ template, offered, onChange }: AssignmentsProps) {
  const { refused, acting } = useActing(onChange);
  const pairs = template.channel_campaigns.flatMap(({ campaign_id, campaign_name, channels }) =>
    channels.map((channel) => ({ ...channel, campaign_id, campaign_name })),
  );
  return (
    <section class="actions" aria-label="Assignments">
      <h3>Assignments</h3>
      {pairs.length === 0 ? <p>It is assigned to no campaign, so users find it as Unassigned alone.</p> : null}
      <ul class="assignments">
        {pairs.map((pair) => (
          <li key={`${pair.channel_id} ${pair.campaign_id}`}>
            <span>
              <strong>{pair.campaign_name}</strong>{' '}
              <span class="note">{`${numberOf(pair.did)} ${pair.name ?? ''}`}</span>
            </span>
            <Action run={acting(() => takeAway(template, pair))} onProblem={ignore}>
              Take away<span class="hidden"> {`${pair.campaign_name} ${numberOf(pair.did)}`}</span>
            </Action>
          </li>
        ))}
      </ul>
      {offered === undefined ? null : (
        <Assign offered={offered} run={(pair) => acting(() => assign(template, pair))()} />
      )}
      <Why refused={refused} />
    </section>
  );
}

interface AssignProps {
  readonly offered: Offered;
  readonly run: (pair: Pair) => Promise<void>;
}

function Assign({ offered: { campaigns, channels }, run }: AssignProps) {
  const [campaign, setCampaign] = useState(campaigns[0]?.[0] ?? '');
  const [channel, setChannel] = useState(String(channels[0]?.channel_id ?? ''));
  if (campaign === '' || channel === '')
    return <p class="note">The user has no campaign or channel to assign it to.</p>;
  return (
    <div class="action-line">
      <label class="grow">
        <span>Campaign</span>
        <select value={campaign} onChange={({ currentTarget }) => setCampaign(currentTarget.value)}>
          {campaigns.map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="grow">
        <span>Channel</span>
        <select value={channel} onChange={({ currentTarget }) => setChannel(currentTarget.value)}>
          {channels.map(({ channel_id: id, did, name }) => (
            <option key={id} value={String(id)}>
              {`${name ?? ''} ${numberOf(did)}`}
            </option>
          ))}
        </select>
      </label>
      <Action run={() => run({ campaign_id: Number(campaign), channel_id: Number(channel) })} onProblem={ignore}>
        Assign
      </Action>
    </div>
  );
}

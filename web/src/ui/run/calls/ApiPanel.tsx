import { Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useCan } from '../../../app/session'
import { sampleValues } from '../../arguments/samples/samples'
import { QueryResult } from '../../layout/QueryResult'
import { type Runnable, runnableQuery, type Target } from '../target'
import { useText } from '../text'
import { curlCall, htmlForm, type Key, pythonCall } from './apiCalls'
import { CallText } from './CallText'
import { readSecret, SecretKey } from './SecretKey'

/** Ready calls that run a task or a workflow: with a token, and with its secret key. */
export function ApiPanel({ target }: { target: Target }) {
  const t = useText()
  const query = useQuery(runnableQuery(target))
  return (
    <QueryResult query={query}>
      {(runnable) => (
        <Tabs defaultValue="token" keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="token">{t.tokenTab}</Tabs.Tab>
            <Tabs.Tab value="secret">{t.secretTab}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="token" pt="sm">
            <Calls
              target={target}
              runnable={runnable}
              access={{ token: true }}
              note={t.tokenBody}
            />
          </Tabs.Panel>
          <Tabs.Panel value="secret" pt="sm">
            <BySecret target={target} runnable={runnable} />
          </Tabs.Panel>
        </Tabs>
      )}
    </QueryResult>
  )
}

interface CallsProps {
  target: Target
  runnable: Runnable
  access: Key
  note: string
  /** The access with the secret that `access` hides, for copying. */
  load?: (() => Promise<Key>) | undefined
}

function Calls({ target, runnable, access, note, load }: CallsProps) {
  const t = useText()
  const definitions = runnable.arguments ?? []
  const values = sampleValues(definitions)
  const keys = { access, load }
  return (
    <Stack gap="sm">
      <Text size="sm">{note}</Text>
      <TitledBlock label={t.curl} render={(key) => curlCall(target, key, values)} {...keys} />
      {'secret' in access ? (
        <TitledBlock
          label={t.html}
          render={(key) => ('secret' in key ? htmlForm(target, key.secret, definitions) : '')}
          {...keys}
        />
      ) : null}
      <TitledBlock label={t.python} render={(key) => pythonCall(target, key, values)} {...keys} />
      <Text size="xs" c="dimmed">
        {t.waiting}
      </Text>
    </Stack>
  )
}

interface TitledProps extends Pick<CallsProps, 'access' | 'load'> {
  label: string
  render: (access: Key) => string
}

function TitledBlock({ label, access, load, render }: TitledProps) {
  return (
    <div>
      <Text size="sm" fw={600} mb={4} component="h3">
        {label}
      </Text>
      <CallText
        text={render(access)}
        label={label}
        source={load ? async () => render(await load()) : undefined}
      />
    </div>
  )
}

function BySecret({ target, runnable }: { target: Target; runnable: Runnable }) {
  const t = useText()
  const [secret, setSecret] = useState('')
  const mayRead = useCan()('task.secret')
  return (
    <Stack gap="sm">
      <SecretKey kind={target.kind} id={target.id} secret={secret} onSecret={setSecret} />
      <Calls
        target={target}
        runnable={runnable}
        access={{ secret: secret || (mayRead ? '••••••••' : 'KEY') }}
        note={t.secretBody}
        load={mayRead && !secret ? () => readSecret(target.kind, target.id) : undefined}
      />
    </Stack>
  )
}

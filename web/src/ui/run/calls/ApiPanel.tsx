import { Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useCan } from '../../../app/session'
import { firstValues, toShow } from '../../arguments/values'
import { QueryResult } from '../../layout/QueryResult'
import { type Runnable, runnableQuery, type Target } from '../target'
import { useText } from '../text'
import { curlCall, htmlForm, type Key, pythonCall } from './apiCalls'
import { CallText } from './CallText'
import { SecretKey } from './SecretKey'

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
}

function Calls({ target, runnable, access, note }: CallsProps) {
  const t = useText()
  const definitions = runnable.arguments ?? []
  const values = toShow(definitions, firstValues(definitions))
  return (
    <Stack gap="sm">
      <Text size="sm">{note}</Text>
      <Titled label={t.curl} text={curlCall(target, access, values)} />
      {'secret' in access ? (
        <Titled label={t.html} text={htmlForm(target, access.secret, definitions)} />
      ) : null}
      <Titled label={t.python} text={pythonCall(target, access, values)} />
      <Text size="xs" c="dimmed">
        {t.waiting}
      </Text>
    </Stack>
  )
}

function Titled({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <Text size="sm" fw={600} mb={4} component="h3">
        {label}
      </Text>
      <CallText text={text} label={label} />
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
      />
    </Stack>
  )
}

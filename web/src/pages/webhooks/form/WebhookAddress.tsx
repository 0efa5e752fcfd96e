import { Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { currentCustomer, ROOT } from '../../../api/client'
import type { Webhook } from '../../../api/queries/automation/webhook'
import { useCan } from '../../../app/session'
import { CopyField } from '../../../ui/form/CopyField'
import { CallText } from '../../../ui/run/calls/CallText'
import { readSecret, SecretKey } from '../../../ui/run/calls/SecretKey'
import { useSamplePayload } from '../samplePayload'
import { useText } from '../text'

/** Senders that sign with a secret of their own, spelled as they write themselves. */
const CHOOSERS: Record<string, string> = { stripe: 'Stripe', slack: 'Slack' }
const HIDDEN = '••••••••'

export function hookUrl(hook: Webhook, secret: string): string {
  const path = hook.signature === 'none' ? `trigger/secret/${secret}` : 'trigger/signed'
  const query = `customer=${encodeURIComponent(currentCustomer())}`
  return `${location.origin}${ROOT}webhook/${hook.id}/${path}?${query}`
}

function curl(url: string, payload: string): string {
  const data = payload.replaceAll("'", "'\\''")
  return `curl -X POST '${url}' \\\n  -H 'Content-Type: application/json' \\\n  -d '${data}'`
}

/** The address to call. The secret in it is hidden until an admin asks for it. */
export function WebhookAddress({ hook }: { hook: Webhook }) {
  const t = useText()
  const mayRead = useCan()('task.secret')
  const [secret, setSecret] = useState('')
  const payload = useSamplePayload(hook) ?? '[]'
  const isSigned = hook.signature !== 'none'
  const chosenBy = CHOOSERS[hook.signature]
  const url = hookUrl(hook, secret || (mayRead ? HIDDEN : 'SECRET'))
  // Copying gives the real address, also while the page hides the secret in it.
  const isHidden = !isSigned && !secret && mayRead
  const load = async () => hookUrl(hook, (await readSecret('webhook', hook.id)).secret)
  return (
    <Stack gap="sm">
      <Text size="sm">{isSigned ? t.signedBody : t.addressBody}</Text>
      {chosenBy ? <Text size="sm">{t.chosenBody(chosenBy)}</Text> : null}
      <CopyField value={url} label={t.address} source={isHidden ? load : undefined} />
      <SecretKey
        kind="webhook"
        id={hook.id}
        secret={secret}
        onSecret={setSecret}
        chosenBy={chosenBy}
      />
      {isSigned ? null : (
        <CallText
          text={curl(url, payload)}
          label={t.copyAddress}
          source={isHidden ? async () => curl(await load(), payload) : undefined}
        />
      )}
    </Stack>
  )
}

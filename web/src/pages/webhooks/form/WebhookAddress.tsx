import { Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { currentCustomer, ROOT } from '../../../api/client'
import type { Webhook } from '../../../api/queries/automation/webhook'
import { CopyField } from '../../../ui/form/CopyField'
import { CallText } from '../../../ui/run/calls/CallText'
import { SecretKey } from '../../../ui/run/calls/SecretKey'
import { useText } from '../text'

/** Who signs with a secret of their own, as they write themselves. */
const CHOOSERS: Record<string, string> = { stripe: 'Stripe', slack: 'Slack' }
const HIDDEN = '••••••••'

export function hookUrl(hook: Webhook, secret: string): string {
  const path = hook.signature === 'none' ? `trigger/secret/${secret}` : 'trigger/signed'
  const query = `customer=${encodeURIComponent(currentCustomer())}`
  return `${location.origin}${ROOT}webhook/${hook.id}/${path}?${query}`
}

/** The address to call. The secret in it is hidden until an admin asks for it. */
export function WebhookAddress({ hook }: { hook: Webhook }) {
  const t = useText()
  const [secret, setSecret] = useState('')
  const url = hookUrl(hook, secret || HIDDEN)
  const isSigned = hook.signature !== 'none'
  const chosenBy = CHOOSERS[hook.signature]
  const call = `curl -X POST '${url}' \\\n  -H 'Content-Type: application/json' \\\n  -d '["one", 2]'`
  return (
    <Stack gap="sm">
      <Text size="sm">{isSigned ? t.signedBody : t.addressBody}</Text>
      {chosenBy ? <Text size="sm">{t.chosenBody(chosenBy)}</Text> : null}
      <CopyField value={url} label={t.address} />
      <SecretKey
        kind="webhook"
        id={hook.id}
        secret={secret}
        onSecret={setSecret}
        chosenBy={chosenBy}
      />
      {isSigned ? null : <CallText text={call} label={t.copyAddress} />}
    </Stack>
  )
}

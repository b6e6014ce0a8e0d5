"""What secrets look like: one row per rule, and the names that announce a secret. Data only; ``find_secrets`` reads it.

A row is a name (``kind/detail``; the kind is what a record shows), words that find it quickly (in lower case), an
expression, and a source. In an expression the secret is the group 1 (up to the end of group 2, if there is one), or
everything; a group named ``value`` must also look like a value, not like code or a placeholder. Expressions are
bounded or anchored, so that none is worse than linear. ``gitleaks`` in a source names rules of its published list
whose shapes the row covers; the expressions are our own. Every row has a sample in ``tests/unit/state/record/secret_samples.py``.
"""

from __future__ import annotations

# fmt: off
#: Known by how they begin. The words are the first letters; a token begins a word, or a part of one.
TOKENS: tuple[tuple[str, str, str, str], ...] = (
    ("1password/account", "a3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}", "gitleaks 1password-secret-key"),
    ("1password/service", "ops_", r"ops_eyJ[A-Za-z0-9+/=]{60,}", "gitleaks 1password-service-account-token"),
    ("adobe/secret", "p8e-", r"(?i:p8e-[a-z0-9]{32})", "gitleaks adobe-client-secret"),
    ("age/key", "age-", r"AGE-SECRET-KEY-1[A-Z0-9]{58}", "gitleaks age-secret-key"),
    ("airtable/pat", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", "gitleaks airtable-personnal-access-token"),
    ("alibaba/id", "ltai", r"LTAI[A-Za-z0-9]{12,26}", "gitleaks alibaba-access-key-id"),
    ("anthropic/key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{8,}", "gitleaks anthropic-api-key, anthropic-admin-api-key"),
    ("artifactory/key", "akcp", r"AKCp[A-Za-z0-9]{60,}", "gitleaks artifactory-api-key"),
    ("artifactory/token", "cmvmd", r"cmVmd[A-Za-z0-9]{59}", "gitleaks artifactory-reference-token"),
    ("atlassian/token", "atatt atctt", r"AT[AC]TT3[A-Za-z0-9_=-]{60,}", "gitleaks atlassian-api-token"),
    ("authress/key", "sc_ ext_ scauth_ authress_", r"(?i:(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[a-z0-9+/_=-]{30,120})", "gitleaks authress-service-client-access-key"),
    ("aws/id", "akia asia abia acca a3t", r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])", "gitleaks aws-access-token"),
    ("aws/bedrock", "absk", r"ABSK[A-Za-z0-9+/]{60,}={0,2}", "gitleaks aws-amazon-bedrock-api-key-long-lived"),
    ("aws/bedrock-session", "bedrock-api-key-", r"bedrock-api-key-[A-Za-z0-9+/=]{20,}", "gitleaks aws-amazon-bedrock-api-key-short-lived"),
    ("beamer/token", "b_", r"(?i:b_[a-z0-9=_-]{44})(?![A-Za-z0-9])", "gitleaks beamer-api-token"),
    ("clickhouse/key", "4b1d", r"4b1d[A-Za-z0-9]{38}(?![A-Za-z0-9])", "gitleaks clickhouse-cloud-api-secret-key"),
    ("clojars/token", "clojars_", r"(?i:clojars_[a-z0-9]{60})", "gitleaks clojars-api-token"),
    ("cloudflare/origin", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}", "gitleaks cloudflare-origin-ca-key"),
    ("databricks/token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?", "gitleaks databricks-api-token"),
    ("defined/token", "dnkey-", r"(?i:dnkey-[a-z0-9=_-]{26}-[a-z0-9=_-]{52})", "gitleaks defined-networking-api-token"),
    ("digitalocean/token", "doo_v1_ dop_v1_ dor_v1_", r"(?i:do[opr]_v1_[a-f0-9]{40,})", "gitleaks digitalocean-access-token, digitalocean-pat, digitalocean-refresh-token"),
    ("docker/pat", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}", "vendor: Docker Hub access tokens"),
    ("doppler/token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}", "gitleaks doppler-api-token"),
    ("dropbox/short", "sl.", r"sl\.[A-Za-z0-9=_-]{100,}", "gitleaks dropbox-short-lived-api-token"),
    ("duffel/token", "duffel_", r"(?i:duffel_(?:test|live)_[a-z0-9_=-]{40,})", "gitleaks duffel-api-token"),
    ("dynatrace/token", "dt0c01.", r"(?i:dt0[a-z]\d\d\.[a-z0-9]{24}\.[a-z0-9]{64})", "gitleaks dynatrace-api-token"),
    ("easypost/token", "ezak eztk", r"EZ[AT]K[A-Za-z0-9]{54}", "gitleaks easypost-api-token, easypost-test-api-token"),
    ("facebook/page", "eaam eaac", r"EAA[MC][A-Za-z0-9]{80,}", "gitleaks facebook-page-access-token"),
    ("figma/token", "figd_", r"figd_[A-Za-z0-9_-]{30,}", "vendor: Figma personal access tokens"),
    ("flutterwave/key", "flwseck_test- flwpubk_test- flwseck-", r"(?i:flw(?:sec|pub)k(?:_test)?-[a-h0-9]{12,32}(?:-x)?)", "gitleaks flutterwave-encryption-key, flutterwave-public-key, flutterwave-secret-key"),
    ("flyio/token", "fo1_ fm1a_ fm1r_ fm2_", r"fo1_[\w-]{43}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{60,}={0,3}", "gitleaks flyio-access-token"),
    ("frameio/token", "fio-u-", r"(?i:fio-u-[a-z0-9_=-]{64})", "gitleaks frameio-api-token"),
    ("github/token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{16,}", "gitleaks github-pat, github-oauth, github-app-token, github-refresh-token, github-fine-grained-pat"),
    ("gitlab/token", "glpat- gldt- glft- glrt- glsoat- glffct- glimt- glagent- gloas- glptt- glcbt-", r"gl(?:pat|dt|ft|rt|soat|ffct|imt|agent|oas|ptt|cbt)-[\w.-]{16,}", "gitleaks gitlab-*"),
    ("gitlab/runner", "gr1348941", r"GR1348941[\w-]{20}", "gitleaks gitlab-rrt"),
    ("google/key", "aiza ya29. gocspx-", r"(?:AIza|ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}", "gitleaks gcp-api-key; vendor: Google OAuth"),
    ("grafana/key", "eyjrijoi", r"(?i:eyJrIjoi[a-z0-9]{60,}={0,3})", "gitleaks grafana-api-key"),
    ("grafana/cloud", "glc_ glsa_", r"(?i:glc_[a-z0-9+/]{32,400}={0,3}|glsa_[a-z0-9]{32}_[a-f0-9]{8})", "gitleaks grafana-cloud-api-token, grafana-service-account-token"),
    ("groq/key", "gsk_", r"gsk_[A-Za-z0-9]{40,}", "vendor: Groq API keys"),
    ("harness/key", "pat. sat.", r"[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}", "gitleaks harness-api-key"),
    ("heroku/key", "hrku-", r"HRKU-[0-9a-zA-Z_-]{30,}", "gitleaks heroku-api-key-v2"),
    ("huggingface/token", "hf_ api_org_", r"(?:hf_|api_org_)[A-Za-z0-9]{20,}", "gitleaks huggingface-access-token, huggingface-organization-api-token"),
    ("infracost/token", "ico-", r"ico-[A-Za-z0-9]{32}(?![A-Za-z0-9])", "gitleaks infracost-api-token"),
    ("intra42/secret", "s-s4t2", r"(?i:s-s4t2(?:ud|af)-[a-f0-9]{64})", "gitleaks intra42-client-secret"),
    ("jwt/token", "eyj", r"eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_/-]{4,}(?:\.[A-Za-z0-9_/-]*={0,2}){0,3}", "gitleaks jwt"),
    ("jwt/encoded", "zxlk", r"ZXlK[A-Za-z0-9/_+\\=-]{40,}", "gitleaks jwt-base64"),
    ("linear/key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}", "gitleaks linear-api-key"),
    ("lob/key", "live_ test_", r"(?i:(?:live|test)_(?:pub_)?[a-f0-9]{31,35})(?![A-Za-z0-9])", "gitleaks lob-api-key, lob-pub-api-key"),
    ("gocardless/token", "live_", r"live_(?=[A-Za-z0-9_=-]*\d)[A-Za-z0-9_=-]{40}(?![A-Za-z0-9_=-])", "gitleaks gocardless-api-token"),
    ("mailgun/key", "key- pubkey-", r"(?i:(?:pub)?key-[a-f0-9]{32})", "gitleaks mailgun-private-api-token, mailgun-pub-key"),
    ("mapbox/token", "pk. sk. tk.", r"(?i:[pst]k\.[a-z0-9]{50,}\.[a-z0-9_-]{16,})", "gitleaks mapbox-api-token"),
    ("newrelic/key", "nrjs- nrii- nrak- nrra-", r"(?i:nr(?:js|ii|ak|ra)-[a-z0-9-]{19,})", "gitleaks new-relic-browser-api-token, new-relic-insert-key, new-relic-user-api-key"),
    ("notion/token", "ntn_ secret_", r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])", "gitleaks notion-api-token"),
    ("npm/token", "npm_", r"(?i:npm_[a-z0-9]{30,})", "gitleaks npm-access-token"),
    ("octopus/key", "api-", r"API-[A-Z0-9]{26}(?![A-Za-z0-9])", "gitleaks octopus-deploy-api-key"),
    ("openai/key", "sk-", r"sk-(?:[A-Za-z0-9]{20,}|(?=[a-z_-]{0,80}[0-9A-Z])[A-Za-z0-9_-]{16,})", "gitleaks openai-api-key; vendor: keys of that style, such as DeepSeek's and OpenRouter's"),
    ("perplexity/key", "pplx-", r"pplx-[A-Za-z0-9]{32,}", "gitleaks perplexity-api-key"),
    ("plaid/token", "access-sandbox- access-development- access-production-", r"access-(?:sandbox|development|production)-[0-9a-fA-F-]{36}", "gitleaks plaid-api-token"),
    ("planetscale/token", "pscale_", r"(?i:pscale_(?:tkn|oauth|pw)_[\w=.-]{30,64})", "gitleaks planetscale-api-token, planetscale-oauth-token, planetscale-password"),
    ("postman/key", "pmak-", r"(?i:pmak-[a-f0-9]{24}-[a-f0-9]{34})", "gitleaks postman-api-token"),
    ("prefect/token", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36}", "gitleaks prefect-api-token"),
    ("pulumi/token", "pul-", r"pul-[a-f0-9]{40}", "gitleaks pulumi-api-token"),
    ("pypi/token", "pypi-", r"pypi-[A-Za-z0-9_-]{40,}", "gitleaks pypi-upload-token"),
    ("readme/token", "rdme_", r"rdme_[a-z0-9]{60,}", "gitleaks readme-api-token"),
    ("replicate/token", "r8_", r"r8_[A-Za-z0-9]{30,}", "vendor: Replicate API tokens"),
    ("rubygems/token", "rubygems_", r"rubygems_[a-f0-9]{40,}", "gitleaks rubygems-api-token"),
    ("scalingo/token", "tk-us-", r"tk-us-[\w-]{40,}", "gitleaks scalingo-api-token"),
    ("sendgrid/key", "sg.", r"SG\.[A-Za-z0-9_=-]{16,}\.?[A-Za-z0-9_=.-]{16,}", "gitleaks sendgrid-api-token"),
    ("sendinblue/key", "xkeysib- xsmtpsib-", r"(?i:x(?:key|smtp)sib-[a-f0-9]{64}-[a-z0-9]{16})", "gitleaks sendinblue-api-token"),
    ("sentry/token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_]{40,}", "gitleaks sentry-org-token, sentry-user-token"),
    ("settlemint/token", "sm_aat_ sm_pat_ sm_sat_", r"sm_[aps]at_[A-Za-z0-9]{16,}", "gitleaks settlemint-*"),
    ("shippo/token", "shippo_", r"shippo_(?:live|test)_[a-fA-F0-9]{40}", "gitleaks shippo-api-token"),
    ("shopify/token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", "gitleaks shopify-*"),
    ("slack/token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- xoxe.", r"(?i:xox[a-z](?:\.xox[bp])?-|xapp-)[A-Za-z0-9%-]{8,}", "gitleaks slack-*"),
    ("sourcegraph/token", "sgp_", r"(?i:sgp_(?:(?:[a-f0-9]{16}|local)_)?[a-f0-9]{40})", "gitleaks sourcegraph-access-token"),
    ("square/token", "sq0atp- sq0csp- eaaa", r"EAAA(?=[A-Za-z_-]{0,60}\d)[\w-]{22,60}|sq0[a-z]{3}-[\w-]{22,60}", "gitleaks square-access-token"),
    ("stripe/key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ pk_live_ whsec_", r"(?i:[spr]k_(?:live|test|prod)_|whsec_)[A-Za-z0-9]{8,}", "gitleaks stripe-access-token"),
    ("supabase/token", "sbp_ sb_secret_", r"sb(?:p|_secret)_[A-Za-z0-9_-]{30,}", "vendor: Supabase access tokens"),
    ("tailscale/key", "tskey-", r"tskey-[a-z]+-[A-Za-z0-9-]{16,}", "vendor: Tailscale keys"),
    ("telegram/bot", "aa", r"(?<=\d{5}:)AA[\w-]{33}(?![\w-])", "gitleaks telegram-bot-api-token"),
    ("twilio/key", "sk0 sk1 sk2 sk3 sk4 sk5 sk6 sk7 sk8 sk9 ska skb skc skd ske skf", r"SK[0-9a-fA-F]{32}(?![A-Za-z0-9])", "gitleaks twilio-api-key"),
    ("twitter/bearer", "aaaaaaaaaaaaaaaaaaaaaa", r"A{22}[A-Za-z0-9%]{60,120}", "gitleaks twitter-bearer-token"),
    ("typeform/token", "tfp_", r"(?i:tfp_[a-z0-9_.=-]{40,})", "gitleaks typeform-api-token"),
    ("vault/token", "hvs. hvb. hvr. s.", r"hv[sbr]\.[\w-]{20,}|s\.(?=[A-Za-z]*\d)(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{24}(?![\w.])", "gitleaks vault-batch-token, vault-service-token"),
    ("vercel/token", "vcp_ vck_", r"vc[pk]_[A-Za-z0-9]{24,}", "vendor: Vercel tokens"),
    ("xai/key", "xai-", r"xai-[A-Za-z0-9]{40,}", "vendor: xAI API keys"),
    ("yandex/key", "aqvn t1.", r"AQVN[A-Za-z0-9_-]{35,38}|t1\.[A-Za-z0-9_-]+={0,2}\.[A-Za-z0-9_-]{86}={0,2}", "gitleaks yandex-api-key, yandex-access-token"),
)

#: Known by what is in the middle or at the end of a long word.
INSIDE: tuple[tuple[str, str, str, str], ...] = (
    ("maxmind/key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", "gitleaks maxmind-license-key"),
    ("terraform/token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}", "gitleaks hashicorp-tf-api-token"),
)

#: Known by the name of what they are assigned to. The words are parts of that name; letters of both cases match.
ASSIGNED: tuple[tuple[str, str, str, str], ...] = (
    ("adafruit/key", "adafruit", r"[\w-]{32}", "gitleaks adafruit-api-key"),
    ("adobe/id", "adobe", r"[a-f0-9]{32}", "gitleaks adobe-client-id"),
    ("airtable/key", "airtable", r"[a-z0-9]{17}", "gitleaks airtable-api-key"),
    ("algolia/key", "algolia", r"[a-z0-9]{32}", "gitleaks algolia-api-key"),
    ("alibaba/secret", "alibaba", r"[a-z0-9]{30}", "gitleaks alibaba-secret-key"),
    ("asana/client", "asana", r"[0-9]{16}|[a-z0-9]{32}", "gitleaks asana-client-id, asana-client-secret"),
    ("atlassian/key", "atlassian confluence jira", r"[a-z0-9]{20}[a-f0-9]{4}", "gitleaks atlassian-api-token"),
    ("bitbucket/client", "bitbucket", r"[a-z0-9]{32}|[a-z0-9=_-]{64}", "gitleaks bitbucket-client-id, bitbucket-client-secret"),
    ("bittrex/key", "bittrex", r"[a-z0-9]{32}", "gitleaks bittrex-access-key, bittrex-secret-key"),
    ("cloudflare/key", "cloudflare", r"[a-z0-9_-]{40}|[a-f0-9]{37}", "gitleaks cloudflare-api-key, cloudflare-global-api-key"),
    ("codecov/token", "codecov", r"[a-z0-9]{32}", "gitleaks codecov-access-token"),
    ("cohere/token", "cohere co_api_key", r"[a-z0-9]{40}", "gitleaks cohere-api-token"),
    ("coinbase/token", "coinbase", r"[a-z0-9_-]{64}", "gitleaks coinbase-access-token"),
    ("confluent/key", "confluent", r"[a-z0-9]{16}|[a-z0-9]{64}", "gitleaks confluent-access-token, confluent-secret-key"),
    ("contentful/token", "contentful", r"[a-z0-9=_-]{43}", "gitleaks contentful-delivery-api-token"),
    ("datadog/token", "datadog", r"[a-z0-9]{40}|[a-f0-9]{32}", "gitleaks datadog-access-token"),
    ("discord/token", "discord", r"[a-f0-9]{64}|[0-9]{18}|[a-z0-9=_-]{32}|[a-z0-9]{23,28}\.[a-z0-9_-]{6}\.[a-z0-9_-]{27,}", "gitleaks discord-api-token, discord-client-id, discord-client-secret"),
    ("droneci/token", "droneci", r"[a-z0-9]{32}", "gitleaks droneci-access-token"),
    ("dropbox/token", "dropbox", r"[a-z0-9]{15}|[a-z0-9]{11}A{10}[a-z0-9=_-]{43}", "gitleaks dropbox-api-token, dropbox-long-lived-api-token"),
    ("etsy/token", "etsy", r"[a-z0-9]{24}", "gitleaks etsy-access-token"),
    ("facebook/secret", "facebook", r"[a-f0-9]{32}|[0-9]{15,16}[|%][\w-]{27,40}", "gitleaks facebook-secret, facebook-access-token"),
    ("fastly/token", "fastly", r"[a-z0-9=_-]{32}", "gitleaks fastly-api-token"),
    ("finicity/token", "finicity", r"[a-f0-9]{32}|[a-z0-9]{20}", "gitleaks finicity-api-token, finicity-client-secret"),
    ("finnhub/token", "finnhub", r"[a-z0-9]{20}", "gitleaks finnhub-access-token"),
    ("flickr/token", "flickr", r"[a-z0-9]{32}", "gitleaks flickr-access-token"),
    ("freshbooks/token", "freshbooks", r"[a-z0-9]{64}", "gitleaks freshbooks-access-token"),
    ("gitter/token", "gitter", r"[a-z0-9_-]{40}", "gitleaks gitter-access-token"),
    ("heroku/id", "heroku", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "gitleaks heroku-api-key"),
    ("hubspot/key", "hubspot", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "gitleaks hubspot-api-key"),
    ("intercom/key", "intercom", r"[a-z0-9=_-]{60}", "gitleaks intercom-api-key"),
    ("jfrog/key", "jfrog artifactory bintray xray", r"[a-z0-9]{73}|[a-z0-9]{64}", "gitleaks jfrog-api-key, jfrog-identity-token"),
    ("kraken/token", "kraken", r"[a-z0-9/=_+-]{80,90}", "gitleaks kraken-access-token"),
    ("kucoin/key", "kucoin", r"[a-f0-9]{24}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "gitleaks kucoin-access-token, kucoin-secret-key"),
    ("launchdarkly/token", "launchdarkly", r"[a-z0-9=_-]{40}", "gitleaks launchdarkly-access-token"),
    ("linear/secret", "linear", r"[a-f0-9]{32}", "gitleaks linear-client-secret"),
    ("linkedin/client", "linkedin linked_in linked-in", r"[a-z0-9]{14}|[a-z0-9]{16}", "gitleaks linkedin-client-id, linkedin-client-secret"),
    ("looker/client", "looker", r"[a-z0-9]{20}|[a-z0-9]{24}", "gitleaks looker-client-id, looker-client-secret"),
    ("mailchimp/key", "mailchimp", r"[a-f0-9]{32}-us\d\d?", "gitleaks mailchimp-api-key"),
    ("mailgun/signing", "mailgun", r"[a-h0-9]{32}-[a-h0-9]{8}-[a-h0-9]{8}", "gitleaks mailgun-signing-key"),
    ("mattermost/token", "mattermost", r"[a-z0-9]{26}", "gitleaks mattermost-access-token"),
    ("meraki/key", "meraki", r"[0-9a-f]{40}", "gitleaks cisco-meraki-api-key"),
    ("messagebird/token", "messagebird message-bird message_bird", r"[a-z0-9]{25}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "gitleaks messagebird-api-token, messagebird-client-id"),
    ("netlify/token", "netlify", r"[a-z0-9=_-]{40,46}", "gitleaks netlify-access-token"),
    ("newrelic/id", "new-relic newrelic new_relic", r"[a-z0-9]{64}", "gitleaks new-relic-user-api-id"),
    ("nytimes/token", "nytimes new-york-times newyorktimes", r"[a-z0-9=_-]{32}", "gitleaks nytimes-access-token"),
    ("okta/token", "okta", r"00[\w=-]{40}", "gitleaks okta-access-token"),
    ("plaid/key", "plaid", r"[a-z0-9]{24}|[a-z0-9]{30}", "gitleaks plaid-client-id, plaid-secret-key"),
    ("privateai/token", "privateai private_ai private-ai", r"[a-z0-9]{32}", "gitleaks privateai-api-token"),
    ("rapidapi/token", "rapidapi", r"[a-z0-9_-]{50}", "gitleaks rapidapi-access-token"),
    ("sendbird/token", "sendbird", r"[a-f0-9]{40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "gitleaks sendbird-access-id, sendbird-access-token"),
    ("sentry/old", "sentry", r"[a-f0-9]{64}", "gitleaks sentry-access-token"),
    ("snyk/token", "snyk", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "gitleaks snyk-api-token"),
    ("sonar/token", "sonar", r"[a-z0-9=_-]{40}", "gitleaks sonar-api-token"),
    ("sourcegraph/old", "sourcegraph", r"[a-f0-9]{40}", "gitleaks sourcegraph-access-token"),
    ("squarespace/token", "squarespace", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "gitleaks squarespace-access-token"),
    ("sumologic/token", "sumo", r"su[a-z0-9]{12}|[a-z0-9]{64}", "gitleaks sumologic-access-id, sumologic-access-token"),
    ("travis/token", "travis", r"[a-z0-9]{22}", "gitleaks travisci-access-token"),
    ("trello/token", "trello", r"[a-z0-9-]{32}|[a-f0-9]{64}", "gitleaks trello-access-token"),
    ("twitch/token", "twitch", r"[a-z0-9]{30}", "gitleaks twitch-api-token"),
    ("twitter/key", "twitter", r"[a-z0-9]{25}|[a-z0-9]{45}|[a-z0-9]{50}|[0-9]{15,25}-[a-z0-9]{20,40}", "gitleaks twitter-access-secret, twitter-access-token, twitter-api-key, twitter-api-secret"),
    ("yandex/aws", "yandex", r"YC[\w-]{38}", "gitleaks yandex-aws-access-token"),
    ("zendesk/secret", "zendesk", r"[a-z0-9]{40}", "gitleaks zendesk-secret-key"),
    ("secret/generic", "key auth access creds api", r"(?=[^A-Z]{0,60}(?-i:[A-Z]))(?=[^a-z]{0,60}(?-i:[a-z]))(?=\D{0,24}\d\D{0,24}\d)[A-Za-z0-9+/]{20,150}={0,3}", "gitleaks generic-api-key"),
)
#: Names of which the last row would be wrong: identifiers and hashes that nobody hides.
PUBLIC_NAMES = ("public", "pubkey", "cache", "primary", "foreign", "author", "integrity", "hash", "sha", "digest", "checksum", "fingerprint", "key_id", "keyid", "capital", "rapid", "access_count")

#: Known by words around them, anywhere in a text. The words of the last column name the commands whose flags are meant.
PHRASES: tuple[tuple[str, tuple[str, ...], str, str, str], ...] = (
    ("private-key/pem", ("-----begin",), r"(?s:-----BEGIN [A-Z0-9 ]{0,60}PRIVATE KEY(?: BLOCK)?-----(?=[\s\\nr]{1,12}[A-Za-z0-9+/]).*?(?:-----END [A-Z0-9 ]{0,60}-----|\Z))", "gitleaks private-key", ""),
    ("authorization/header", ("authorization",), r"""(?i:authorization\\{0,8}["']?\s{0,4}(?:[:=]|,(?=\s{0,4}\\{0,8}["'][a-z0-9-]{1,20} ))\s{0,4}\\{0,8}["']?(?P<whole>(?:[a-z][a-z0-9-]{1,20}[ \t]+)?(?P<value>(?![a-z_.]{1,24}(?:[,;)\]\s]|\Z))[^\s"'\\`]{3,})))""", "gitleaks curl-auth-header", ""),
    ("authorization/bearer", ("bearer",), r"""(?i:bearer\s{1,4}(?P<value>(?!tokens?\b|grant|realm|only\b|auth|scheme|header|format|access\b|credential|prefix|string|method|security|middleware|strategy)[A-Za-z0-9._~+/=-]{6,}))""", "vendor: RFC 6750", ""),
    ("authorization/basic", ("basic",), r"(?i:basic\s{1,4})(?=[A-Za-z0-9+/=]{0,400}?(?:[0-9=]|[a-z][A-Z]))(?=[A-Za-z0-9]{0,6}[A-Z0-9])([A-Za-z0-9+/]{8,}={0,2})", "vendor: RFC 7617", ""),
    ("authorization/named-header", (" -h ", " --header"), r"""(?:-H|--header)[ =:]{0,3}\\{0,8}["']?[\w-]{0,40}(?i:key|token|auth|secret)[\w-]{0,20}:\s{0,4}(?i:bearer +|basic +|token +)?(?P<value>[^\s"'\\]{6,})""", "gitleaks curl-auth-header", ""),
    ("cookie/header", ("cookie",), r"""(?i:cookie\\{0,8}["']?\s{0,3}[:=]\s{0,3}\\{0,8}["']?)(?=[^\s=;"']{1,80}=)([^\n"'\\]{3,4096})""", "vendor: RFC 6265", ""),
    ("cookie/flag", (" -b ",), r"""-b +["']?(?=[^\s=;"']{1,80}=)([^\n"'\\;]{3,1000})""", "vendor: curl", "curl"),
    ("cookie/session", ("sess",), r"(?i:sess(?:ion)?[_-]?(?:id)?=)(?=[A-Za-z_-]{0,40}\d)([A-Za-z0-9%._-]{16,})", "gitleaks gitlab-session-cookie", ""),
    ("url/userinfo", ("://",), r"""://[^\s/?#"'@:\[]{0,256}:(?P<value>[^\s/?#"']{1,1024})@""", "gitleaks sidekiq-sensitive-url; RFC 3986", ""),
    ("url/token", ("://",), r"""://(?=[A-Za-z_.~%+-]{0,60}\d)([A-Za-z0-9_.~%+-]{16,512})@""", "vendor: Git over HTTPS, Sentry DSN", ""),
    ("url/signature", ("sig=", "signature="), r"(?i:(?:sig|signature)=)([A-Za-z0-9%/+=_-]{20,})", "vendor: signed URLs of Azure, AWS and Google", ""),
    ("slack/webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows|triggers)?/?([A-Za-z0-9/+_-]{12,})", "gitleaks slack-webhook-url", ""),
    ("webhook/url", ("/webhooks/", "webhookb2/"), r"(?:/webhooks/\d{5,}/|webhookb2/)([\w@/.-]{20,})", "gitleaks microsoft-teams-webhook; vendor: Discord", ""),
    ("telegram/token", ("telegr",), r"(?i:telegr[\w. -]{0,60}[\s\"'=:>,/]{1,6}(?:bot)?(\d{5,16}:A[\w-]{34})(?![\w-]))", "gitleaks telegram-bot-api-token", ""),
    ("azure/secret", ("q~",), r"(?<=([\w~.]{3}\d))Q~([\w~.-]{31,34})", "gitleaks azure-ad-client-secret", ""),
    ("openshift/token", ("sha256~",), r"(?i:sha256)~([\w-]{43})", "gitleaks openshift-user-token", ""),
    ("sidekiq/secret", ("contribsys__com",), r"""(?i:contribsys__com["'\s]{0,3}[=:]["'\s]{0,3}([a-f0-9]{8}:[a-f0-9]{8}))""", "gitleaks sidekiq-secret", ""),
    ("kubernetes/secret", ("kind:",), r"""(?i:kind:[ \t]*["']?secret\b(?s:.){0,300}?\b(?:string)?data:[ \t]*\n((?:[ \t]+[^\n]+(?:\n|\Z))+))""", "gitleaks kubernetes-secret-yaml", ""),
    ("kubernetes/data", ("data:",), r"""(?i:data:[ \t]*\n((?:[ \t]+[^\n]+\n)+)(?=(?s:.){0,300}?\bkind:[ \t]*["']?secret\b))""", "gitleaks kubernetes-secret-yaml", ""),
    ("secret/netrc", ("login",), r"login\s+[^\s/]\S{0,200}\s+password\s+(?P<value>[^\s\"']{1,400})", "vendor: .netrc", ""),
    ("secret/user", (" -u", " --user"), r"""(?:-u|--user)[ =]{0,3}["']?[^\s"':]{1,200}:(?P<value>[^\s"']{1,400})""", "gitleaks curl-auth-user", "curl http wget"),
    ("secret/password-flag", (" -p",), r"""-p[ =]{0,3}["']?(?P<value>[^\s"'`;&|<>-][^\s"'`;&|<>]{2,400})""", "vendor: sshpass, docker login, mongo", "sshpass mongo login rabbitmq snowsql"),
    ("secret/password-glued", (" -p",), r"""-p["']?(?P<value>[^\s"'`;&|<>=-][^\s"'`;&|<>]{2,400})""", "vendor: mysql, 7z", "mysql mariadb 7z"),
    ("secret/password-capital", (" -p",), r"""-P[ =]{0,3}["']?(?P<value>[^\s"'`;&|<>-][^\s"'`;&|<>]{2,400})""", "vendor: sqlcmd, zip", "sqlcmd zip bcp"),
    ("secret/auth-flag", (" -a ",), r"""-a +["']?(?:[^\s"':]{1,200}:)?(?P<value>[^\s"'`;&|<>:-][^\s"'`;&|<>]{2,400})""", "vendor: redis-cli, httpie", "redis-cli http"),
    ("secret/bind-flag", (" -w ",), r"""-w +["']?(?P<value>[^\s"'`;&|<>-][^\s"'`;&|<>]{2,400})""", "vendor: ldapsearch and its family", "ldap"),
    ("secret/openssl", ("pass:",), r"pass:(?P<value>[^\s\"']{3,200})", "vendor: openssl -passin", "openssl"),
    ("secret/spoken", ("password is", "passphrase is"), r"""(?i:pass(?:word|phrase) is:? ["'`]?(?=[^\s"'`]{0,60}[0-9])(?P<value>[^\s"'`,]{4,80}))""", "own", ""),
    ("secret/tag", ("pass", "secret", "token", "apikey", "api_key"), r"(?i:(?:pass(?:word|wd|phrase)|secret|token|api_?key)[\w-]{0,20}>\s{0,4}(?P<value>[^<\s]{3,400})</)", "gitleaks generic-api-key", ""),
)

#: One of these is in every word of the table above and of the one below, or "secret" is in the text too: fewer searches.
ROOTS = ("pass", "pwd", "secret", "cred", "token", "key", "auth", "cookie", "bearer", "basic", "---", "://", "login", "sig", "sess", "hook", "~", "contribsys", "telegr")
#: Parts of names that announce a secret: alone, or behind one of the words that make a key of a lock.
NAMES = ("passw", "passphrase", "passcode", "pass", "pwd", "secret", "credential", "creds", "token", "key", "auth")
PLAIN_NAMES = ("password", "passwd", "passphrase", "passcode", "secret", "credential", "creds")
_KEYS = ("api", "access", "private", "signing", "encryption", "account", "auth", "client", "master", "license", "subscription", "shared", "shared_access", "deploy")
KEY_NAMES = tuple(f"{which}{joint}key" for which in _KEYS for joint in ("", "_"))
#: Endings and words of names that only speak of a secret.
HARMLESS_NAMES = (
    "type", "name", "policy", "field", "file", "filename", "path", "dir", "url", "uri", "endpoint", "length", "len", "size", "ttl", "count",
    "limit", "usage", "budget", "hint", "prompt", "label", "title", "required", "manager", "min", "max", "expiry", "expires",
    "expires_in", "expires_at", "expiration", "key_id", "keyid", "token_id", "status", "enabled", "version", "format", "scheme", "provider",
    "store", "helper", "rotation", "strength", "error", "index", "placeholder", "message", "regex", "pattern",
    "validator", "form", "input", "tokens", "tokenizer", "per_token", "pertoken", "less", "env", "arn", "ref", "reset",
)
NOT_PASS = ("bypass", "compass", "surpass", "trespass", "underpass")

VARIABLE_PARTS = (
    "KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTH", "PRIVATE", "COOKIE", "DSN",
)
HARMLESS_PARTS = ("AUTHOR", "KEYBOARD", "KEYMAP", "KEYRING", "TOKENIZ")
HARMLESS_ENDS = ("_SOCK", "_SOCKET", "_PATH", "_FILE", "_DIR", "_HOME")

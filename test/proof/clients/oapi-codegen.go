package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	ctx := context.Background()
	token := ""
	authorized := WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		return nil
	})
	service, err := NewClientWithResponses(os.Args[1], authorized)
	if err != nil {
		log.Fatal(err)
	}
	login, err := service.LoginWithResponse(ctx, LoginRequest{Username: "supervisor1001", Password: "demo-supervisor1001"})
	if err != nil || login.JSON200 == nil {
		log.Fatal(err, login.Status())
	}
	token = login.JSON200.AccessToken

	message := SendRequest{Did: "5491100000001", Type: SendRequestTypeTemplate, Channel: SendRequestChannelMESSAGING}
	message.Template.Name = "order_update"
	message.Template.Language = "en_US"
	params := RecipientParams{Body: &[]string{"Ana", "A-1001"}, Buttons: &[]string{"A-1001"}}
	message.Recipients = []Recipient{{To: "5491155550001", Params: &params}}
	answer, err := service.MessagesSendWithResponse(ctx, message.Did, nil, message)
	if err != nil || answer.JSON200 == nil {
		log.Fatal(err, string(answer.Body))
	}
	fmt.Println(answer.HTTPResponse.Header.Get("Dispatch-Id"))
}
